#include "heed/data/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "heed/data/readers.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of;
using test::TempFolder;

std::string packed(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

TEST(Gzip, GivesBackWhatWasPacked) {
  const TempFolder folder;
  std::string large;
  for (int i = 0; i < 300'000; ++i) large += std::to_string(i) + "\n";
  for (const std::string& text : {std::string(), std::string("x"), large, std::string(1 << 20, 'a')}) {
    EXPECT_EQ(detail::read_gzip(folder.write("a.gz", packed(text))), text);
  }
  EXPECT_EQ(detail::read_gzip(folder.write("two.gz", packed("one\n") + packed("two\n"))), "one\ntwo\n");
}

TEST(Gzip, RefusesWhatIsDamagedCutOffOrTooLarge) {
  const TempFolder folder;
  const std::string whole = packed(std::string(5000, 'a') + "and so on");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = folder.write("cut.gz", whole.substr(0, size));
    EXPECT_NE(error_of(ErrorKind::bad_format, [&] { detail::read_gzip(file); }).find("cut.gz: "), std::string::npos);
  }
  for (std::size_t at = whole.size() - 12; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto file = folder.write("damaged.gz", damaged);
    error_of(ErrorKind::bad_format, [&] { detail::read_gzip(file); });
  }
  error_of(ErrorKind::bad_format, [&] { detail::read_gzip(folder.write("plain.gz", "no gzip")); });
  error_of(ErrorKind::bad_format, [&] { detail::read_gzip(folder.write("more.gz", whole + "more")); });
  error_of(ErrorKind::not_found, [&] { detail::read_gzip(folder.path() / "absent.gz"); });
  const auto bomb = folder.write("bomb.gz", packed(std::string(50'000'000, '\0')));
  const std::string message = error_of(ErrorKind::bad_format, [&] { detail::read_gzip(bomb, 1'000'000); });
  EXPECT_NE(message.find("more than 1000000 bytes when unpacked"), std::string::npos) << message;
}

TEST(Gzip, ReadersReadPackedFilesLikeOthers) {
  const TempFolder folder;
  const std::string csv = "text,label\n\"a, b\",x\n\nc,y\n";
  const auto file = folder.write("a.csv.gz", packed(csv));
  const auto reader = open_reader({.file = file});
  Row row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.text, "a, b");
  const std::uint64_t second = reader->position();
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.line, 4u);
  EXPECT_FALSE(reader->next(row));
  EXPECT_EQ(reader->end(), csv.size());
  reader->seek(second);
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.labels, std::vector<std::string>{"y"});
  const auto squad = folder.write(
      "a.json.gz", packed(R"({"data": [{"paragraphs": [{"context": "a b", "qas": [{"id": "1", "question": "?",
                              "answers": [{"text": "b", "answer_start": 2}]}]}]}]})"));
  ASSERT_TRUE(open_reader({.file = squad})->next(row));
  EXPECT_EQ(row.text, "?");
}

}  // namespace
}  // namespace heed

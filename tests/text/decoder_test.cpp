// Expected texts are HuggingFace's.
#include "heed/text/decoder.h"

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace heed::text {
namespace {

std::string decode(const char* json, std::vector<std::string> tokens) {
  make_decoder(parse_json(json, "test"), "test")->apply(tokens);
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

TEST(Decoder, WordPiece) {
  EXPECT_EQ(decode(R"({"type":"WordPiece","prefix":"##","cleanup":true})", {"##un", "##able", "do", "##", ".", "n't"}),
            "##unable do.n't");
  EXPECT_EQ(decode(R"({"type":"WordPiece","prefix":"##","cleanup":false})", {"a", "##b", "."}), "ab .");
}

TEST(Decoder, ByteLevel) {
  const char* json = R"({"type":"ByteLevel"})";
  EXPECT_EQ(decode(json, {"ĠcafÃ", "©", "Ċ"}), " café\n");
  EXPECT_EQ(decode(json, {"Ã", "x"}), "\uFFFDx");
  EXPECT_EQ(decode(json, {"日Ġ", "Ġ"}), "日Ġ ") << "a token outside the alphabet stands for itself";
}

TEST(Decoder, Metaspace) {
  EXPECT_EQ(
      decode(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true})", {"▁▁a", "▁b", "c"}),
      "a bc");
  EXPECT_EQ(decode(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"never","split":true})", {"▁a", "▁b"}),
            " a b");
}

TEST(Decoder, ByteFallback) {
  const char* json = R"({"type":"ByteFallback"})";
  EXPECT_EQ(decode(json, {"<0xE4>", "<0xB8>", "<0xAD>", "x"}), "中x");
  EXPECT_EQ(decode(json, {"<0xE4>", "<0xB8>", "x", "<0xFF>"}), "\uFFFD\uFFFDx\uFFFD");
  EXPECT_EQ(decode(json, {"<0xZZ>"}), "<0xZZ>");
}

TEST(Decoder, SmallOnes) {
  EXPECT_EQ(decode(R"({"type":"BPEDecoder","suffix":"</w>"})", {"a", "b</w>", "c</w>"}), "ab c");
  EXPECT_EQ(decode(R"({"type":"Replace","pattern":{"String":"▁"},"content":" "})", {"▁a", "b▁"}), " ab ");
  EXPECT_EQ(decode(R"({"type":"Replace","pattern":{"Regex":"[ab]+"},"content":"X"})", {"abc", "ca"}), "XccX");
  EXPECT_EQ(decode(R"({"type":"Strip","content":"_","start":2,"stop":1})", {"___a__", "_"}), "_a_");
  EXPECT_EQ(decode(R"({"type":"CTC","pad_token":"<p>","word_delimiter_token":"|","cleanup":true})",
                   {"h", "h", "<p>", "h", "|", "|", "i"}),
            "hh i");
  EXPECT_EQ(decode(R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
                      {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})",
                   {"▁▁a", "<0x41>", "▁b"}),
            " aA b");
}

TEST(Decoder, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(test::error_of(ErrorKind::bad_format, [] { decode(R"({"type":"Magic"})", {}); }),
            "test: unknown type \"Magic\"");
  EXPECT_EQ(test::error_of(ErrorKind::bad_format, [] { decode(R"({"type":"Fuse","glue":1})", {}); }),
            "test: unknown field \"glue\"");
  EXPECT_EQ(test::error_of(ErrorKind::bad_format,
                           [] { decode(R"({"type":"Strip","content":"ab","start":0,"stop":0})", {}); }),
            "test: content is \"ab\", expected one character");
}

}  // namespace
}  // namespace heed::text

#include "heed/data/data_check.h"

#include <gtest/gtest.h>

#include "heed/base/stop.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using Strings = std::vector<std::string>;

TEST(DataCheck, CountsAndFindsWhatIsThere) {
  const test::TempFolder folder;
  const auto train =
      folder.write("train.csv", "text,label\nA good day,pos\n a  GOOD\tday ,neg\nbad,neg\nbad,neg\nbroken\n,pos\n");
  const auto dev = folder.write("dev.csv", "text,label\nBAD,neg\nsomething new here,neutral\nBad,neg\n");
  std::vector<double> shares;
  const DataCheck check = check_data({{.file = train}, {.file = dev}},
                                     {.max_length = 2, .progress = [&](double share) { shares.push_back(share); }});
  ASSERT_EQ(check.files.size(), 2u);
  const FileCheck &first = check.files[0], &second = check.files[1];
  EXPECT_EQ(first.rows, 5u);
  EXPECT_EQ(first.labels, (std::map<std::string, std::size_t>{{"neg", 3}, {"pos", 2}}));
  EXPECT_EQ(first.lengths, (std::map<std::size_t, std::size_t>{{0, 1}, {1, 2}, {3, 2}}));
  EXPECT_EQ(first.too_long, 2u);
  EXPECT_EQ(first.length_quantile(0.5), 1u);
  EXPECT_EQ(first.length_quantile(1), 3u);
  EXPECT_DOUBLE_EQ(first.mean_length(), 8.0 / 5);
  EXPECT_EQ(first.bad_rows.count, 1u);
  EXPECT_EQ(first.duplicates.count, 2u);
  EXPECT_EQ(first.contradictions.examples, (Strings{train.string() + ":3 is " + train.string() + ":2"}));
  EXPECT_EQ(first.empty.examples, (Strings{train.string() + ":7"}));
  EXPECT_EQ(second.new_labels, Strings{"neutral"});
  EXPECT_EQ(second.duplicates.count, 1u);
  ASSERT_EQ(check.shared.size(), 1u);
  EXPECT_EQ(check.shared[0].rows.count, 2u);
  EXPECT_EQ(check.shared[0].rows.examples[0], dev.string() + ":2 is " + train.string() + ":4");
  EXPECT_FALSE(check.clean());
  EXPECT_EQ(shares.back(), 1);
  EXPECT_EQ(to_json(check)["files"][0]["lengths"]["max"], 3);
}

TEST(DataCheck, PairsWordsAndQuestionsAreComparedWhole) {
  const test::TempFolder folder;
  const auto pairs = folder.write("a.jsonl", R"({"text": "a b", "text_pair": "c", "score": 1}
{"text": "a", "text_pair": "b c", "score": 1}
{"text": "A b", "text_pair": "c", "score": 2}
)");
  const DataCheck check = check_data({{.file = pairs}});
  EXPECT_EQ(check.files[0].duplicates.count, 1u);
  EXPECT_EQ(check.files[0].contradictions.count, 1u);

  const auto words = folder.write("b.conll", "In O\nRome B-LOC\n\nin O\nrome O\n\nRome B-LOC\n");
  const auto tagged = check_data({{.file = words}}, {.length = [](const Row& row) { return row.words.size() + 2; }});
  EXPECT_EQ(tagged.files[0].labels.at("O"), 3u);
  EXPECT_EQ(tagged.files[0].contradictions.count, 1u);
  EXPECT_EQ(tagged.files[0].length_quantile(1), 4u);

  const auto lists = folder.write("d.jsonl", R"({"texts": ["a b"], "numbers": [1, 2], "file": "x", "items": ["i"]}
{"texts": ["A  b"], "numbers": [1, 2], "file": "x", "items": ["i"]}
{"texts": ["a b"], "numbers": [1, 3], "file": "x", "items": ["i"]}
{"texts": ["a b"], "numbers": [1, 2], "file": "X", "items": ["i"]}
{"texts": ["a b"], "numbers": [1, 2], "file": "x", "items": ["j"]}
{"texts": ["a", "b"], "numbers": [1, 2], "file": "x", "items": ["i"]}
)");
  const RowFields needs = {RowField::texts, RowField::numbers, RowField::files, RowField::items};
  const DataCheck listed = check_data({{.file = lists, .needs = needs}});
  EXPECT_EQ(listed.files[0].duplicates.examples, (Strings{lists.string() + ":2 is " + lists.string() + ":1"}));
  EXPECT_EQ(listed.files[0].length_quantile(1), 6u);
  EXPECT_EQ(listed.files[0].empty.count, 0u);

  // One label is nothing to learn from, in the first file.
  const auto one = folder.write("one.csv", "text,label\na,x\nb,x\n"),
             two = folder.write("two.csv", "text,label\nc,x\nd,y\n");
  const DataCheck single = check_data({{.file = one}, {.file = two}});
  EXPECT_TRUE(single.one_label);
  EXPECT_FALSE(single.clean());
  EXPECT_TRUE(to_json(single)["one_label"]);
  EXPECT_TRUE(check_data({{.file = two}, {.file = one}}).clean());
  EXPECT_TRUE(check_data({{.file = one}}, {.learns_labels = false}).clean());

  const auto clean = folder.write("c.txt", "one\ntwo\n");
  EXPECT_TRUE(check_data({{.file = clean}}).clean());
}

// In the middle of a file, and where no row is well-formed.
TEST(DataCheck, EndsWhenTheThreadIsToStop) {
  const test::TempFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 3000; ++i) rows += "a,b\n";
  const auto good = folder.write("good.csv", rows), bad = folder.write("bad.jsonl", "{\n{\n{\n");
  const StopSource source;
  const StopScope scope(source.token());
  std::size_t reports = 0;
  test::error_of(ErrorKind::cancelled, [&] {
    check_data({{.file = good}}, {.progress = [&](double) {
                 ++reports;
                 source.request_stop();
               }});
  });
  EXPECT_EQ(reports, 1u);
  test::error_of(ErrorKind::cancelled, [&] { check_data({{.file = bad}}); });
}

}  // namespace
}  // namespace heed

#include "heed/train/dev_split.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace heed {
namespace {

std::vector<Row> some_rows(std::size_t count) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back({.text = "row " + std::to_string(i)});
  return rows;
}

std::set<std::string> held_out(const std::vector<Row>& rows, double share, std::uint64_t seed) {
  DevSplit split(seed);
  for (const Row& row : rows) split.add(row);
  split.divide(share);
  std::set<std::string> texts;
  std::size_t count = 0;
  for (const Row& row : rows) {
    if (!split.holds_out(row)) continue;
    ++count;
    texts.insert(row.text);
  }
  EXPECT_EQ(count, split.rows());
  return texts;
}

TEST(DevSplit, HasTheShareThatIsWantedAndDependsOnTheSeed) {
  const auto rows = some_rows(1000);
  const auto first = held_out(rows, 0.1, 1);
  EXPECT_EQ(first.size(), 100u);
  EXPECT_EQ(first, held_out(rows, 0.1, 1));
  EXPECT_NE(first, held_out(rows, 0.1, 2));
  EXPECT_EQ(held_out(rows, 0, 1).size(), 0u);
}

TEST(DevSplit, HasAMostAndALeast) {
  EXPECT_EQ(held_out(some_rows(30'000), 0.1, 1).size(), kMostDevRows);
  EXPECT_EQ(held_out(some_rows(90), 0.1, 1).size(), 0u);
  EXPECT_EQ(held_out(some_rows(100), 0.1, 1).size(), 10u);
}

TEST(DevSplit, RowsThatReadAlikeAreOnOneSide) {
  auto rows = some_rows(200);
  for (Row& row : some_rows(200)) rows.push_back(std::move(row));
  for (std::size_t i = 0; i < 200; ++i) rows[i].labels = {"a"}, rows[i + 200].labels = {"b"};
  DevSplit split(3);
  for (const Row& row : rows) split.add(row);
  split.divide(0.1);
  EXPECT_GT(split.rows(), 20u);
  EXPECT_LE(split.rows(), 40u);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(split.holds_out(rows[i]), split.holds_out(rows[i + 200]));
  // If all are alike there is nothing to divide.
  const std::vector<Row> same(100, Row{.text = "the same"});
  EXPECT_EQ(held_out(same, 0.5, 1).size(), 0u);
  // Nor if the few others are too few.
  std::vector<Row> most = some_rows(8);
  most.resize(100, Row{.text = "the same"});
  for (std::uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(held_out(most, 0.2, seed).size(), 0u) << seed;
}

TEST(DevSplit, PairsAndWordsCount) {
  std::vector<Row> rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back({.text = "same", .pair = std::to_string(i)});
    rows.push_back({.words = {"same", std::to_string(i)}});
  }
  DevSplit split(1);
  for (const Row& row : rows) split.add(row);
  split.divide(0.2);
  EXPECT_EQ(split.rows(), 40u);
}

// Rows of every kind are told apart by what they have.
TEST(DevSplit, RowsWithoutATextAreDividedToo) {
  const std::vector<std::function<Row(int)>> kinds = {[](int i) { return Row{.texts = {std::to_string(i)}}; },
                                                      [](int i) { return Row{.words = {std::to_string(i)}}; },
                                                      [](int i) { return Row{.numbers = {i + 0.5}}; },
                                                      [](int i) { return Row{.files = {std::to_string(i)}}; },
                                                      [](int i) { return Row{.messages = std::to_string(i)}; },
                                                      [](int i) { return Row{.items = {std::to_string(i)}}; }};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    DevSplit split(1);
    for (int i = 0; i < 200; ++i) split.add(kinds[kind](i));
    split.divide(0.1);
    EXPECT_EQ(split.rows(), 20u) << kind;
  }
}

}  // namespace
}  // namespace heed

#include "heed/data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heed/base/random.h"

namespace heed {
namespace {

std::vector<std::uint32_t> random_lengths(std::size_t count) {
  std::vector<std::uint32_t> lengths(count);
  for (std::size_t i = 0; i < count; ++i) lengths[i] = static_cast<std::uint32_t>(1 + uniform_integer(7, 1, i, 100));
  return lengths;
}

std::vector<std::uint32_t> all_samples(const BatchPlan& plan) {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < plan.batches(); ++i) std::ranges::copy(plan.batch(i), std::back_inserter(all));
  return all;
}

TEST(BatchPlan, EverySampleOnceWithinTheBudget) {
  const auto lengths = random_lengths(5000);
  for (const std::int64_t sequences : {0, 7}) {
    for (const bool by_length : {false, true}) {
      const BatchPlan plan(lengths, {.tokens = 300, .sequences = sequences, .by_length = by_length}, 1, 3);
      auto all = all_samples(plan);
      std::ranges::sort(all);
      std::vector<std::uint32_t> each(lengths.size());
      std::iota(each.begin(), each.end(), 0u);
      EXPECT_EQ(all, each);
      for (std::int64_t i = 0; i < plan.batches(); ++i) {
        std::int64_t tokens = 0;
        for (const std::uint32_t sample : plan.batch(i)) tokens += lengths[sample];
        EXPECT_LE(tokens, 300);
        EXPECT_TRUE(sequences == 0 || plan.batch(i).size() <= 7u);
      }
    }
  }
}

TEST(BatchPlan, OrderIsAFunctionOfSeedAndEpoch) {
  const auto lengths = random_lengths(500);
  const BatchRules rules{.tokens = 300};
  EXPECT_EQ(all_samples(BatchPlan(lengths, rules, 1, 0)), all_samples(BatchPlan(lengths, rules, 1, 0)));
  EXPECT_NE(all_samples(BatchPlan(lengths, rules, 1, 0)), all_samples(BatchPlan(lengths, rules, 1, 1)));
  EXPECT_NE(all_samples(BatchPlan(lengths, rules, 1, 0)), all_samples(BatchPlan(lengths, rules, 2, 0)));
}

TEST(BatchPlan, WithoutShufflingTheOrderOfTheData) {
  const auto lengths = random_lengths(100);
  const auto all = all_samples(BatchPlan(lengths, {.tokens = 300, .shuffle = false}, 1, 0));
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

// What buckets are for: a padded batch of similar lengths wastes little.
TEST(BatchPlan, NeighboursHaveLikeLengths) {
  const auto lengths = random_lengths(20000);
  const auto waste = [&](bool by_length) {
    const BatchPlan plan(lengths, {.tokens = 1000, .by_length = by_length}, 1, 0);
    double padded = 0;
    for (std::int64_t i = 0; i < plan.batches(); ++i) {
      std::uint32_t longest = 0;
      for (const std::uint32_t sample : plan.batch(i)) longest = std::max(longest, lengths[sample]);
      padded += static_cast<double>(longest) * static_cast<double>(plan.batch(i).size());
    }
    return padded / std::accumulate(lengths.begin(), lengths.end(), 0.0) - 1;
  };
  EXPECT_GT(waste(false), 0.5);
  EXPECT_LT(waste(true), 0.05);
}

TEST(BatchPlan, ASampleLongerThanTheBudgetIsAloneAndNothingIsNothing) {
  const std::vector<std::uint32_t> lengths = {5, 500, 5};
  const BatchPlan plan(lengths, {.tokens = 10}, 1, 0);
  EXPECT_EQ(all_samples(plan).size(), 3u);
  EXPECT_EQ(BatchPlan({}, {.tokens = 10}, 1, 0).batches(), 0);
}

}  // namespace
}  // namespace heed

#include "heed/train/best_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace heed {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

// The step whose model is kept after judging these scores of steps 1, 2, ...
std::int64_t kept(std::initializer_list<double> scores, bool higher = true) {
  BestModel best;
  std::int64_t step = 0, last = 0;
  for (const double score : scores) {
    if (best.judge(score, higher, ++step)) last = step;
  }
  EXPECT_EQ(best.step, last);
  return last;
}

TEST(BestModel, TheBestAndOfEqualOnesTheLatest) {
  EXPECT_EQ(kept({0.5, 0.7, 0.6}), 2);
  EXPECT_EQ(kept({0.5, 0.7, 0.6}, false), 1);
  EXPECT_EQ(kept({0.7, 0.5, 0.7, 0.6}), 3);
  EXPECT_EQ(kept({}), 0);
}

TEST(BestModel, WhatIsNotFiniteIsKeptOnlyAsLongAsNothingElseIs) {
  EXPECT_EQ(kept({kNaN, kNaN, kNaN}), 3);
  EXPECT_EQ(kept({kNaN, -0.9, kNaN, -0.95}), 2);
  EXPECT_EQ(kept({kInfinity, 0.5}), 2);
  EXPECT_EQ(kept({kInfinity, 300, kInfinity}, false), 2);
  EXPECT_EQ(kept({-kInfinity, 300}, false), 2);
}

TEST(BestModel, PatienceCountsJudgmentsWithoutABetterOne) {
  BestModel best;
  std::vector<std::int64_t> worse;
  for (const double score : {kNaN, kNaN, 0.5, 0.5, kNaN, 0.6, 0.1}) {
    best.judge(score, true, static_cast<std::int64_t>(worse.size()) + 1);
    worse.push_back(best.worse);
  }
  EXPECT_EQ(worse, (std::vector<std::int64_t>{0, 1, 0, 1, 2, 0, 1}));
  EXPECT_EQ(best.score, 0.6);
}

}  // namespace
}  // namespace heed

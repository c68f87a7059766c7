#include "heed/attention/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

// The formula of the paper with one angle per pair, by exp and log where the code uses pow.
TEST(Positions, SinusoidalFollowsTheFormula) {
  for (const auto& [length, width] : {std::pair<std::int64_t, std::int64_t>{50, 8}, {3, 7}, {1, 1}, {2000, 64}}) {
    const Tensor exact = sinusoidal_positions(length, width, DType::f64), table = sinusoidal_positions(length, width);
    ASSERT_EQ(table.shape(), Shape({length, width}));
    for (std::int64_t p = 0; p < length; ++p) {
      for (std::int64_t i = 0; 2 * i < width; ++i) {
        const double rate = std::exp(-std::log(10000.0) * 2 * static_cast<double>(i) / static_cast<double>(width));
        const double angle = static_cast<double>(p) * rate;
        ASSERT_NEAR(exact.at({p, 2 * i}), std::sin(angle), 1e-11) << p << ' ' << i;
        if (2 * i + 1 == width) continue;
        ASSERT_NEAR(exact.at({p, 2 * i + 1}), std::cos(angle), 1e-11) << p << ' ' << i;
      }
    }
    EXPECT_TRUE(same_bits(table, exact.detached_to(DType::f32)));  // rounded once
  }
}

TEST(Positions, PublishedValues) {
  // PE[1] of width 4: sin 1, cos 1, sin 0.01, cos 0.01.
  const Tensor table = sinusoidal_positions(2, 4, DType::f64);
  const double expected[] = {0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653};
  for (std::int64_t c = 0; c < 4; ++c) EXPECT_NEAR(table.at({1, c}), expected[c], 1e-15);
  for (std::int64_t c = 0; c < 4; ++c) EXPECT_EQ(table.at({0, c}), static_cast<double>(c % 2));
}

TEST(Positions, APrefixOfALongerTableIsTheTable) {
  const Tensor longer = sinusoidal_positions(600, 48);
  for (int threads : {1, 3}) {
    ThreadLimit limit(threads);
    EXPECT_TRUE(same_bits(sinusoidal_positions(37, 48), longer.detached_slice(0, 0, 37).detached_clone()));
  }
}

TEST(Positions, IntegerAndFraction) {
  EXPECT_EQ(integer_positions(3, 2).to_vector<float>(), (std::vector<float>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(fraction_positions(3, 2).to_vector<float>(), (std::vector<float>{0, 0, 0.5, 0.5, 1, 1}));
  EXPECT_EQ(fraction_positions(1, 1).to_vector<float>(), std::vector<float>{0});
  EXPECT_EQ(integer_positions(0, 4).shape(), Shape({0, 4}));
}

TEST(Positions, OneCodeIsARowOfTheTable) {
  for (auto kind : {PositionKind::sinusoidal, PositionKind::integer, PositionKind::fraction}) {
    const Tensor table = position_table(kind, 9, 5, DType::f64);
    EXPECT_EQ(position_code(kind, 6, 9, 5), table.detached_slice(0, 6, 7).to_vector<double>());
    EXPECT_EQ(parse_position_kind(to_string(kind)), kind);
  }
}

TEST(Positions, IdsBeginAnewInEachSequence) {
  const Offsets offsets{3, 0, 1, 2};
  EXPECT_EQ(position_ids(offsets).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(position_ids(offsets, 7).to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 8, 9, 7, 7, 8}));
  EXPECT_EQ(position_ids(Offsets()).shape(), Shape({0}));
  const std::vector<std::int64_t> starts = {5, 9, 0, 40};
  EXPECT_EQ(position_ids(offsets, starts).to_vector<std::int64_t>(), (std::vector<std::int64_t>{5, 6, 7, 0, 40, 41}));
}

TEST(Positions, RefusesWhatHasNoCode) {
  EXPECT_THROW(sinusoidal_positions(-1, 4), Error);
  EXPECT_THROW(sinusoidal_positions(4, 0), Error);
  EXPECT_THROW(sinusoidal_positions(4, 4, DType::i64), Error);
  EXPECT_THROW(position_code(PositionKind::integer, 4, 4, 1), Error);
  EXPECT_THROW(position_ids(Offsets{1}, -1), Error);
  EXPECT_THROW(position_ids(Offsets{1, 1}, std::vector<std::int64_t>{0, -1}), Error);
  EXPECT_THROW(position_ids(Offsets{1, 1}, std::vector<std::int64_t>{0}), Error);
  EXPECT_THROW(parse_position_kind("rotary"), Error);
}

}  // namespace
}  // namespace heed

#include "heed/attention/position_criteria.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/positions.h"
#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed {
namespace {

PositionEncoding built_in(PositionKind kind, std::int64_t width) {
  return [=](std::int64_t position, std::int64_t length) { return position_code(kind, position, length, width); };
}

// unique, consistent distance, bounded, deterministic
std::array<bool, 4> verdicts(const PositionEncoding& encoding, std::int64_t length) {
  std::array<bool, 4> passed{};
  const auto found = check_positions(encoding, length);
  for (std::size_t i = 0; i < 4; ++i) passed[i] = found[i].passed;
  return passed;
}

TEST(PositionCriteria, SinusoidalPassesAll) {
  for (std::int64_t length : {2, 16, 100}) {
    for (std::int64_t width : {2, 8, 64}) {
      EXPECT_EQ(verdicts(built_in(PositionKind::sinusoidal, width), length), (std::array{true, true, true, true}))
          << length << ' ' << width;
    }
  }
}

TEST(PositionCriteria, ASineWithoutItsCosineIsNotEvenlySpaced) {
  EXPECT_EQ(verdicts(built_in(PositionKind::sinusoidal, 1), 32), (std::array{true, false, true, true}));
  // The lonely sine of a wider code turns so slowly that it hardly counts.
  const double nearly = check_positions(built_in(PositionKind::sinusoidal, 7), 32)[1].evidence;
  EXPECT_GT(nearly, 1e-12);
  EXPECT_LT(nearly, 1e-6);
}

TEST(PositionCriteria, IntegersGrowWithoutBound) {
  EXPECT_EQ(verdicts(built_in(PositionKind::integer, 4), 32), (std::array{true, true, false, true}));
  EXPECT_EQ(check_positions(built_in(PositionKind::integer, 4), 32)[2].evidence, 8);
}

TEST(PositionCriteria, FractionsStepDifferentlyInEveryLength) {
  const auto found = check_positions(built_in(PositionKind::fraction, 1), 32);
  EXPECT_EQ(verdicts(built_in(PositionKind::fraction, 4), 32), (std::array{true, false, true, true}));
  EXPECT_NEAR(found[1].evidence, 1 - 31.0 / 63, 1e-12);  // steps of 1/31 and of 1/63
  EXPECT_NEAR(found[0].evidence, 1.0 / 31, 1e-12);
}

TEST(PositionCriteria, RandomPerCallIsNotDeterministic) {
  std::uint64_t calls = 0;
  const auto found = check_positions(
      [&](std::int64_t, std::int64_t) {
        return std::vector<double>{uniform_double(1, 0, calls++), uniform_double(1, 0, calls++)};
      },
      32);
  EXPECT_TRUE(found[0].passed);
  EXPECT_FALSE(found[1].passed);
  EXPECT_FALSE(found[3].passed);
  EXPECT_EQ(found[3].evidence, 32);
}

TEST(PositionCriteria, ATableThatEndsIsNotDefinedBeyond) {
  const auto found = check_positions(
      [](std::int64_t position, std::int64_t) {
        return position < 16 ? std::vector<double>{normal(1, 2, static_cast<std::uint64_t>(position))}
                             : std::vector<double>{};
      },
      16);
  EXPECT_FALSE(found[2].passed);
  EXPECT_TRUE(std::isinf(found[2].evidence));
  EXPECT_TRUE(found[3].passed);
}

TEST(PositionCriteria, EqualCodesAreNotUnique) {
  const auto found = check_positions(
      [](std::int64_t position, std::int64_t) { return std::vector<double>{static_cast<double>(position % 5)}; }, 8);
  EXPECT_FALSE(found[0].passed);
  EXPECT_EQ(found[0].evidence, 0);
  EXPECT_THROW(check_positions(built_in(PositionKind::integer, 1), 1), Error);
}

}  // namespace
}  // namespace heed

#include "heed/base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heed {
namespace {

static_assert(checked_add(2, 3, "constant") == 5);
static_assert(checked_cast<std::int8_t>(-128, "constant") == -128);

// All pairs of 8-bit operands against plain arithmetic in int.
template <class T>
void check_every_pair() {
  using Limits = std::numeric_limits<T>;
  for (int a = Limits::min(); a <= Limits::max(); ++a) {
    for (int b = Limits::min(); b <= Limits::max(); ++b) {
      const auto check = [&](int exact, auto&& operation) {
        const bool fits = exact >= Limits::min() && exact <= Limits::max();
        try {
          const T got = operation(static_cast<T>(a), static_cast<T>(b), "x", ErrorKind::bad_format);
          EXPECT_TRUE(fits && got == exact) << a << " " << b;
        } catch (const Error&) {
          EXPECT_FALSE(fits) << a << " " << b;
        }
      };
      check(a + b, checked_add<T>);
      check(a * b, checked_mul<T>);
    }
  }
}

TEST(Checked, EveryPairOfBytes) {
  check_every_pair<std::int8_t>();
  check_every_pair<std::uint8_t>();
}

TEST(Checked, TheMessageNamesContextAndNumbers) {
  try {
    checked_mul(std::int64_t{1} << 40, std::int64_t{1} << 40, "model.safetensors: tensor w");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_format);
    EXPECT_STREQ(error.what(), "model.safetensors: tensor w: 1099511627776 * 1099511627776 does not fit in int64");
  }
  try {
    checked_add<std::uint8_t>(200, 100, "[op]", ErrorKind::invalid_argument);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(), "[op]: 200 + 100 does not fit in uint8");
  }
}

TEST(Checked, ProductOfAShape) {
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(checked_product(Shape{}, "x"), 1);
  EXPECT_EQ(checked_product(Shape{2, 3, 4}, "x"), 24);
  EXPECT_EQ(checked_product(Shape{2, 0, 4}, "x"), 0);
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_THROW(checked_product(Shape{big, big}, "x"), Error);
  EXPECT_THROW(checked_product(Shape{0, big, big}, "x"), Error);
  EXPECT_THROW(checked_product(Shape{big, big, 0}, "x"), Error);
  EXPECT_THROW(checked_product(Shape{-1, 3}, "x"), Error);
  EXPECT_THROW(checked_product(Shape{-1, -3}, "x"), Error);
}

TEST(Checked, CastKeepsTheValueOrThrows) {
  EXPECT_EQ(checked_cast<std::size_t>(std::int64_t{7}, "x"), 7u);
  EXPECT_EQ(checked_cast<std::int64_t>(std::uint64_t{INT64_MAX}, "x"), INT64_MAX);
  EXPECT_THROW(checked_cast<std::int64_t>(std::uint64_t{INT64_MAX} + 1, "x"), Error);
  EXPECT_THROW(checked_cast<std::size_t>(-1, "x"), Error);
  EXPECT_THROW(checked_cast<std::int32_t>(std::int64_t{1} << 31, "x"), Error);
  EXPECT_THROW(checked_cast<std::uint8_t>(256, "x"), Error);
}

}  // namespace
}  // namespace heed

#include "heed/kernels/convert.h"

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// The value of a format with `mantissa` bits and `exponent` bits, from its definition.
double value_of(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & top;
  const double mantissa = static_cast<double>(bits & ((1u << mantissa_bits) - 1));
  const double sign = bits >> (exponent_bits + mantissa_bits) ? -1 : 1;
  if (exponent == top) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits), exponent - bias - mantissa_bits);
}

template <class Format>
constexpr int kExponentBits = std::is_same_v<Format, Float16> ? 5 : 8;
template <class Format>
constexpr int kMantissaBits = 15 - kExponentBits<Format>;

template <class Format>
class ConvertTyped : public ::testing::Test {};
using Formats = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(ConvertTyped, Formats);

TYPED_TEST(ConvertTyped, AllValuesWidenExactlyAndComeBack) {
  using Format = TypeParam;
  std::vector<Format> all(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) all[i].bits = static_cast<std::uint16_t>(i);
  for_each_target([&] {
    std::vector<float> wide(all.size());
    std::vector<Format> back(all.size());
    convert(all.data(), wide.data(), 65536);
    convert(wide.data(), back.data(), 65536);
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const double want = value_of(i, kExponentBits<Format>, kMantissaBits<Format>);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(wide[i]));
        ASSERT_TRUE(std::isnan(value_of(back[i].bits, kExponentBits<Format>, kMantissaBits<Format>)));
      } else {
        ASSERT_EQ(wide[i], want);
        ASSERT_EQ(std::signbit(wide[i]), std::signbit(want));
        ASSERT_EQ(back[i].bits, i);
      }
    }
  });
}

// Between two neighbours of the format: below, at and above the middle.
TYPED_TEST(ConvertTyped, NarrowingRoundsToNearestEven) {
  using Format = TypeParam;
  constexpr int E = kExponentBits<Format>, M = kMantissaBits<Format>;
  const std::uint32_t infinity = ((1u << E) - 1) << M;
  std::vector<float> x;
  std::vector<std::uint32_t> want;
  for (std::uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    const double low = value_of(bits, E, M), high = value_of(bits + 1, E, M);
    const auto middle = static_cast<float>((low + high) / 2);
    for (float sign : {1.0f, -1.0f}) {
      const std::uint32_t sign_bit = sign < 0 ? 0x8000u : 0;
      x.insert(x.end(), {sign * std::nextafter(middle, 0.0f), sign * middle, sign * std::nextafter(middle, INFINITY)});
      want.insert(want.end(), {sign_bit | bits, sign_bit | (bits + (bits & 1)), sign_bit | (bits + 1)});
    }
  }
  x.insert(x.end(), {INFINITY, -INFINITY, std::numeric_limits<float>::max(), 1e-45f, -0.0f});
  want.insert(want.end(), {infinity, 0x8000u | infinity, infinity, 0u, 0x8000u});
  for_each_target([&] {
    std::vector<Format> y(x.size());
    convert(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i].bits, want[i]) << x[i];
  });
}

TYPED_TEST(ConvertTyped, TailsHaveTheBitsOfTheBody) {
  using Format = TypeParam;
  const auto x = random_values<float>(300, 1);
  for_each_target([&] {
    expect_same_bits_at_all_positions([&](std::int64_t begin, std::int64_t n) {
      std::vector<Format> half(static_cast<std::size_t>(n));
      std::vector<float> y(half.size());
      convert(x.data() + begin, half.data(), n);
      convert(half.data(), y.data(), n);
      return y;
    });
  });
}

TEST(Convert, FloatAndDouble) {
  for (std::int64_t n : kSizes) {
    const auto x = random_values<float>(n, 1);
    std::vector<double> wide(x.size());
    std::vector<float> back(x.size());
    convert(x.data(), wide.data(), n);
    convert(wide.data(), back.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(wide[i], x[i]);
    EXPECT_EQ(back, x);
  }
  const double x[] = {1 + 0x1p-25, 1 + 0x1.8p-24, 1e300, -1e-300};
  float y[4];
  convert(x, y, 4);
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 1.0f + 0x1p-23f);
  EXPECT_EQ(y[2], INFINITY);
  EXPECT_EQ(y[3], 0.0f);
}

}  // namespace
}  // namespace heed::kernels

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/convert.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "heed/base/parallel.h"
#include "heed/kernels/convert.h"
#include "heed/kernels/half.h"
#include "heed/kernels/lambda.h"

#ifndef HEED_CONVERT_SCALARS
#define HEED_CONVERT_SCALARS
namespace heed::kernels {
namespace {

[[maybe_unused]] inline Float16 to_half(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all >> 16 & 0x8000u, magnitude = all & 0x7FFFFFFFu;
  std::uint32_t bits;
  if (magnitude > 0x7F800000u) {
    bits = 0x7E00u | (magnitude >> 13 & 0x3FFu);
  } else if (magnitude >= 0x47800000u) {  // 2^16 and above
    bits = 0x7C00u;
  } else if (magnitude >= 0x38800000u) {  // normal: the carry of rounding may reach the exponent, up to infinity
    bits = (magnitude - (112u << 23) + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
  } else {  // adding 1/2 rounds to its last place, 2^-24, the unit of subnormals
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

inline BFloat16 to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  const std::uint32_t quiet = bits >> 16 | 0x40u;
  return {static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded)};
}

}  // namespace
}  // namespace heed::kernels
#endif  // HEED_CONVERT_SCALARS

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void halves_to_floats(const Float16* x, float* y, std::int64_t n) {
  std::transform(x, x + n, y, [](Float16 half) { return to_float(half); });
}
void floats_to_halves(const float* x, Float16* y, std::int64_t n) {
  std::transform(x, x + n, y, to_half);
}
#else
// Tails go through buffers of one vector.
void halves_to_floats(const Float16* x, float* y, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const auto N = static_cast<std::int64_t>(hn::Lanes(d));
  const auto convert_vector = [&](const Float16* from, float* to) HEED_LAMBDA {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from))), d, to);
  };
  std::int64_t i = 0;
  for (; i + N <= n; i += N) convert_vector(x + i, y + i);
  if (i == n) return;
  Float16 from[HWY_MAX_BYTES / 4] = {};
  float to[HWY_MAX_BYTES / 4];
  std::copy(x + i, x + n, from);
  convert_vector(from, to);
  std::copy(to, to + (n - i), y + i);
}
void floats_to_halves(const float* x, Float16* y, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  const auto N = static_cast<std::int64_t>(hn::Lanes(d));
  const auto convert_vector = [&](const float* from, Float16* to) HEED_LAMBDA {
    hn::StoreU(hn::DemoteTo(d16, hn::LoadU(d, from)), d16, reinterpret_cast<hwy::float16_t*>(to));
  };
  std::int64_t i = 0;
  for (; i + N <= n; i += N) convert_vector(x + i, y + i);
  if (i == n) return;
  float from[HWY_MAX_BYTES / 4] = {};
  Float16 to[HWY_MAX_BYTES / 4];
  std::copy(x + i, x + n, from);
  convert_vector(from, to);
  std::copy(to, to + (n - i), y + i);
}
#endif

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(halves_to_floats);
HWY_EXPORT(floats_to_halves);
constexpr std::int64_t kConvertGrain = 32768;

template <class From, class To, class F>
void convert_each(const From* x, To* y, std::int64_t n, const F& f) {
  parallel_for(n, kConvertGrain,
               [&](std::int64_t begin, std::int64_t end) { std::transform(x + begin, x + end, y + begin, f); });
}

}  // namespace

template <>
void convert(const Float16* x, float* y, std::int64_t n) {
  parallel_for(n, kConvertGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(halves_to_floats)(x + begin, y + begin, end - begin);
  });
}
template <>
void convert(const float* x, Float16* y, std::int64_t n) {
  parallel_for(n, kConvertGrain, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(floats_to_halves)(x + begin, y + begin, end - begin);
  });
}
template <>
void convert(const BFloat16* x, float* y, std::int64_t n) {
  convert_each(x, y, n, [](BFloat16 value) { return to_float(value); });
}
template <>
void convert(const float* x, BFloat16* y, std::int64_t n) {
  convert_each(x, y, n, [](float value) { return to_bfloat(value); });
}
template <>
void convert(const float* x, double* y, std::int64_t n) {
  convert_each(x, y, n, [](float value) { return static_cast<double>(value); });
}
template <>
void convert(const double* x, float* y, std::int64_t n) {
  convert_each(x, y, n, [](double value) { return static_cast<float>(value); });
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

// exp, log, tanh and the normal distribution's tail on vectors. Included once per target.
//
// float: our own approximations, within 3 ulp (the activation tests sweep what is built of them over all floats), with
// coefficients from a minimax fit in double precision. double: the C library lane by lane; it serves gradient checks.
// All pass NaN on.
#if defined(HEED_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_VECTOR_MATH_INL_H_
#undef HEED_KERNELS_VECTOR_MATH_INL_H_
#else
#define HEED_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool kIsFloat = std::is_same_v<hn::TFromD<D>, float>;

template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// max(low, x) and min(high, x) that pass NaN on: x86 returns the second operand for NaN, NEON returns NaN, but
// the emulated targets return the other operand.
template <class V>
HWY_INLINE V at_least(V low, V x) {
  if constexpr (kEmulated) return hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::Max(low, x);
}
template <class V>
HWY_INLINE V at_most(V high, V x) {
  if constexpr (kEmulated) return hn::IfThenElse(hn::Gt(x, high), high, x);
  return hn::Min(high, x);
}

// c[0] + x c[1] + x^2 c[2] + ..., by Horner's rule.
template <class D, class V, class... C>
HWY_INLINE V polynomial(D d, V x, double c0, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return constant(d, c0);
  } else {
    return hn::MulAdd(polynomial(d, x, rest...), x, constant(d, c0));
  }
}

template <class D, class V, class F>
HWY_INLINE V lane_by_lane(D d, V x, const F& f) {
  HWY_ALIGN hn::TFromD<D> values[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(x, d, values);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) values[i] = f(values[i]);
  return hn::Load(d, values);
}

// 2^n for integer-valued lanes n in [-126, 127].
template <class D>
HWY_INLINE hn::Vec<D> power_of_two(D d, hn::Vec<hn::RebindToSigned<D>> n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// x = n ln2 + r, |r| <= ln2 / 2. ln2 in two parts: n times the high one (9 bits) is exact, with or without FMA.
// n is rounded by adding 1.5 * 2^23, whose low bits then hold n.
template <class D, class V>
struct ExpReduction {
  V r;
  hn::Vec<hn::RebindToSigned<D>> n;
};
template <class D, class V>
HWY_INLINE ExpReduction<D, V> reduce_exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto magic = constant(d, 12582912.0);
  const auto shifted = hn::Add(hn::Mul(x, constant(d, 1.44269504088896341)), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = hn::NegMulAdd(n, constant(d, 0.693359375), x);
  r = hn::NegMulAdd(n, constant(d, -2.12194440054690583e-4), r);
  return {r, hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x4B400000))};
}

// (e^r - 1 - r) / r^2 on [-ln2/2, ln2/2].
template <class D, class V>
HWY_INLINE V exp_tail(D d, V r) {
  return polynomial(d, r, 4.999999305e-01, 1.666651479e-01, 4.166845683e-02, 8.369419043e-03, 1.381314236e-03);
}

// e^r on [-ln2/2, ln2/2].
template <class D, class V>
HWY_INLINE V exp_of_rest(D d, V r) {
  return hn::Add(hn::MulAdd(hn::Mul(r, r), exp_tail(d, r), r), constant(d, 1.0));
}

// e^(x + lo) for x <= 0, which softmax, sigmoid and the normal distribution need. lo
// (none: 0) is what x is known beyond a float's precision. Underflow is gradual; e^-inf = 0.
template <class D, class V, class... Low>
HWY_INLINE V exp_nonpositive(D d, V x, Low... lo) {
  if constexpr (kIsFloat<D>) {
    const hn::RebindToSigned<D> di;
    const auto [r, n] = reduce_exp(d, at_least(constant(d, -104.5), x));
    // n reaches -151, below the exponents of normal numbers: 2^(n + 64), then 2^-64.
    const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127 + 64))));
    V rest = r;
    ((rest = hn::Add(rest, lo)), ...);
    return hn::Mul(hn::Mul(exp_of_rest(d, rest), scale), constant(d, 0x1p-64));
  } else {
    ((x = hn::Add(x, lo)), ...);
    return lane_by_lane(d, x, [](double v) { return std::exp(v); });
  }
}

// 2^x for x up to about 0, cheaper still: what is below 2^-125 becomes 0. For attention weights, where such terms stand
// beside a 1.
template <class D, class V>
HWY_INLINE V exp2_or_zero(D d, V x) {
  if constexpr (kIsFloat<D>) {
    const hn::RebindToSigned<D> di;
    const V magic = constant(d, 12582912.0), shifted = hn::Add(x, magic);
    const V r = hn::Sub(x, hn::Sub(shifted, magic));
    const V power = polynomial(d, r, 1.0, 6.9314720286e-01, 2.4022647914e-01, 5.5503324712e-02, 9.6184373574e-03,
                               1.3398874404e-03, 1.5353361945e-04);
    // The low bits of `shifted` hold the whole part of x, which goes to the exponent.
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
    const V result = hn::BitCast(d, hn::Add(hn::BitCast(di, power), exponent));
    return hn::IfThenZeroElse(hn::Lt(x, constant(d, -125.0)), result);
  } else {
    return lane_by_lane(d, x, [](double v) { return std::exp2(v); });
  }
}

// e^(-x^2 / 2), relatively accurate although x^2 is not a float: x = h + l with h of 12 bits, so that h^2 is exact.
template <class D, class V>
HWY_INLINE V exp_of_half_square(D d, V x) {
  if constexpr (kIsFloat<D>) {
    const hn::RebindToUnsigned<D> du;
    const V h = hn::BitCast(d, hn::And(hn::BitCast(du, x), hn::Set(du, 0xFFFFF000u)));
    const V minus_half = constant(d, -0.5);
    return exp_nonpositive(d, hn::Mul(hn::Mul(h, h), minus_half),
                           hn::Mul(hn::Mul(hn::Sub(x, h), hn::Add(x, h)), minus_half));
  } else {
    return lane_by_lane(d, x, [](double v) { return std::exp(-0.5 * v * v); });
  }
}

// The upper tail of the normal distribution at t >= 0: density e^(-t^2/2) (without 1/sqrt(2 pi)) and
// tail = P(X > t) = density * erfcx(t / sqrt 2) / 2. Relatively accurate until it underflows.
template <class V>
struct NormalTail {
  V density, tail;
};
template <class D, class V>
HWY_INLINE NormalTail<V> normal_tail(D d, V t) {
  if constexpr (kIsFloat<D>) {
    t = at_most(constant(d, 15.0), t);  // both are 0 from 14.5 on
    const V density = exp_of_half_square(d, t);
    const V p = polynomial(d, t, 5.000000031e-01, 4.392897468e-01, 1.839733038e-01, 4.088237602e-02, 4.153366269e-03);
    const V q =
        polynomial(d, t, 1.0, 1.676464499e+00, 1.205566702e+00, 4.714195423e-01, 1.024830324e-01, 1.041083375e-02);
    return {density, hn::Mul(density, hn::Div(p, q))};
  } else {
    return {exp_of_half_square(d, t),
            lane_by_lane(d, t, [](double v) { return 0.5 * std::erfc(v * 0.70710678118654752440); })};
  }
}

// tanh |x| = -e / (e + 2) with e = expm1(-2 |x|), which keeps its relative accuracy near 0.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  if constexpr (kIsFloat<D>) {
    const V minus_twice = hn::Mul(at_most(constant(d, 10.0), hn::Abs(x)), constant(d, -2.0));
    const auto [r, n] = reduce_exp(d, minus_twice);
    const V scale = power_of_two(d, n);
    const V p = hn::MulAdd(hn::Mul(r, r), exp_tail(d, r), r);
    const V e = hn::MulAdd(p, scale, hn::Sub(scale, constant(d, 1.0)));
    return hn::CopySign(hn::Div(e, hn::Add(e, constant(d, 2.0))), x);
  } else {
    return lane_by_lane(d, x, [](double v) { return std::tanh(v); });
  }
}

// Natural logarithm; log 0 = -inf, NaN below 0. x = 2^n m with m in [sqrt(1/2), sqrt 2), s = (m - 1) / (m + 1):
// log m = 2 s + s z P(z), z = s^2, arranged so that the leading term m - 1 is exact.
template <class D, class V>
HWY_INLINE V log(D d, V x) {
  if constexpr (kIsFloat<D>) {
    const hn::RebindToSigned<D> di;
    const V infinity = constant(d, std::numeric_limits<double>::infinity());
    const auto tiny = hn::Lt(x, constant(d, 1.17549435e-38));
    const V scaled = hn::IfThenElse(tiny, hn::Mul(x, constant(d, 8388608.0)), x);
    const auto offset = hn::Sub(hn::BitCast(di, scaled), hn::Set(di, 0x3F3504F3));  // sqrt(1/2)
    const auto exponent = hn::ShiftRight<23>(offset);
    const V m = hn::BitCast(d, hn::Sub(hn::BitCast(di, scaled), hn::ShiftLeft<23>(exponent)));
    const V n = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(tiny, constant(d, 23.0)));
    const V f = hn::Sub(m, constant(d, 1.0));
    const V s = hn::Div(f, hn::Add(f, constant(d, 2.0)));
    const V z = hn::Mul(s, s);
    const V rest = hn::Mul(z, polynomial(d, z, 6.666678530e-01, 3.997633373e-01, 2.990662439e-01));
    const V half_square = hn::Mul(hn::Mul(f, f), constant(d, 0.5));
    const V low = hn::MulAdd(s, hn::Add(half_square, rest), hn::Mul(n, constant(d, -2.12194440054690583e-4)));
    const V result = hn::MulAdd(n, constant(d, 0.693359375), hn::Sub(f, hn::Sub(half_square, low)));
    const V not_a_number = constant(d, std::numeric_limits<double>::quiet_NaN());
    const V at_infinity = hn::IfThenElse(hn::Eq(x, infinity), infinity, not_a_number);
    const V special = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), at_infinity);
    return hn::IfThenElse(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity)), result, special);
  } else {
    return lane_by_lane(d, x, [](double v) { return std::log(v); });
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

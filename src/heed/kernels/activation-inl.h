// activate() and activate_derivative() on vectors, for every kernel that fuses an activation. Included once per target.
#if defined(HEED_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ACTIVATION_INL_H_
#undef HEED_KERNELS_ACTIVATION_INL_H_
#else
#define HEED_KERNELS_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "heed/kernels/activation.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Activation A>
inline double activate_lane(double x) {
  if constexpr (A == Activation::gelu) return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440));
  if constexpr (A == Activation::gelu_tanh)
    return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  if constexpr (A == Activation::silu) return x / (1 + std::exp(-x));
  if constexpr (A == Activation::tanh) return std::tanh(x);
  if constexpr (A == Activation::sigmoid) return 1 / (1 + std::exp(-x));
  return x;
}

template <Activation A>
inline double derivative_lane(double x) {
  if constexpr (A == Activation::gelu)
    return 0.5 * (1 + std::erf(x * 0.70710678118654752440)) + x * 0.39894228040143267794 * std::exp(-0.5 * x * x);
  if constexpr (A == Activation::gelu_tanh) {
    const double t = std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
  }
  if constexpr (A == Activation::silu) {
    const double s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  if constexpr (A == Activation::tanh) return 1 - std::tanh(x) * std::tanh(x);
  if constexpr (A == Activation::sigmoid) return activate_lane<A>(x) * (1 - activate_lane<A>(x));
  return 1;
}

template <Activation A, class D, class V>
V activate(D d, V x) {
  if constexpr (A == Activation::none) return x;
  if constexpr (A == Activation::relu) return hn::Max(x, hn::Zero(d));
  HWY_ALIGN hn::TFromD<D> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = static_cast<hn::TFromD<D>>(activate_lane<A>(lanes[i]));
  return hn::Load(d, lanes);
}

template <Activation A, class D, class V>
V activate_derivative(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (A == Activation::none) return hn::Set(d, T{1});
  if constexpr (A == Activation::relu) return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, T{1}));
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = static_cast<T>(derivative_lane<A>(lanes[i]));
  return hn::Load(d, lanes);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

// activate() and activate_derivative() on vectors, for every kernel that fuses an activation: fused and separate give
// the same bits because both are this code. Where both are asked for, the compiler shares what they have in common.
// Included once per target.
#if defined(HEED_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ACTIVATION_INL_H_
#undef HEED_KERNELS_ACTIVATION_INL_H_
#else
#define HEED_KERNELS_ACTIVATION_INL_H_
#endif

#include "heed/kernels/activation.h"
#include "heed/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// s(x) = 1 / (1 + e^-x) and s(-x), both relatively accurate: with e = e^-|x| they are 1 / (1 + e) and e / (1 + e).
template <class V>
struct Sigmoid {
  V value, complement;
};
template <class D, class V>
HWY_INLINE Sigmoid<V> sigmoid(D d, V x) {
  const V e = exp_nonpositive(d, hn::Neg(hn::Abs(x)));
  const V one = constant(d, 1.0);
  const V large = hn::Div(one, hn::Add(one, e));
  const V small = hn::Mul(e, large);
  const auto negative = hn::Lt(x, hn::Zero(d));
  return {hn::IfThenElse(negative, small, large), hn::IfThenElse(negative, large, small)};
}

// Beyond these bounds f(x) is 0 or x and f'(x) 0 or 1; without them infinity times 0 would be NaN.
template <class D, class V>
HWY_INLINE V clamp_low(D d, V x, double bound) {
  return at_least(constant(d, -bound), x);
}
template <class D, class V>
HWY_INLINE V clamp_both(D d, V x, double bound) {
  return at_most(constant(d, bound), clamp_low(d, x, bound));
}

// gelu_tanh(x) = x (1 + tanh u) / 2 = x s(2 u), 2 u = x (c1 + c3 x^2), c1 = 2 sqrt(2 / pi), c3 = 0.044715 c1.
inline constexpr double kGeluC1 = 1.59576912160573071176;
inline constexpr double kGeluC3 = 0.0713548162726002527;

template <Activation A, class D, class V>
HWY_INLINE V activate(D d, V x) {
  if constexpr (A == Activation::relu) {
    return at_least(hn::Zero(d), x);
  } else if constexpr (A == Activation::gelu) {
    // x P(X < x); P(X < x) = 1 - P(X > x) above 0.
    const V bounded = clamp_both(d, x, 40.0);
    const V part = hn::Mul(bounded, normal_tail(d, hn::Abs(bounded)).tail);
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), part, hn::Sub(x, part));
  } else if constexpr (A == Activation::gelu_tanh) {
    const V bounded = clamp_low(d, x, 40.0);
    const V twice_u =
        hn::Mul(bounded, hn::MulAdd(hn::Mul(bounded, bounded), constant(d, kGeluC3), constant(d, kGeluC1)));
    return hn::Mul(bounded, sigmoid(d, twice_u).value);
  } else if constexpr (A == Activation::silu) {
    return hn::Mul(clamp_low(d, x, 1000.0), sigmoid(d, x).value);
  } else if constexpr (A == Activation::tanh) {
    return tanh(d, x);
  } else if constexpr (A == Activation::sigmoid) {
    return sigmoid(d, x).value;
  } else {
    return x;
  }
}

template <Activation A, class D, class V>
HWY_INLINE V activate_derivative(D d, V x) {
  const V one = constant(d, 1.0);
  if constexpr (A == Activation::relu) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one);
  } else if constexpr (A == Activation::gelu) {
    // P(X < x) + x density(x)
    const V bounded = clamp_both(d, x, 40.0);
    const auto [density, tail] = normal_tail(d, hn::Abs(bounded));
    const V below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
    return hn::MulAdd(hn::Mul(bounded, constant(d, 0.39894228040143267794)), density, below);
  } else if constexpr (A == Activation::gelu_tanh) {
    // s + x s (1 - s) (2 u)'
    const V bounded = clamp_both(d, x, 40.0);
    const V square = hn::Mul(bounded, bounded);
    const auto [s, c] = sigmoid(d, hn::Mul(bounded, hn::MulAdd(square, constant(d, kGeluC3), constant(d, kGeluC1))));
    const V slope = hn::MulAdd(square, constant(d, 3 * kGeluC3), constant(d, kGeluC1));
    return hn::MulAdd(hn::Mul(hn::Mul(s, c), bounded), slope, s);
  } else if constexpr (A == Activation::silu) {
    // s (1 + x (1 - s))
    const V bounded = clamp_both(d, x, 1000.0);
    const auto [s, c] = sigmoid(d, bounded);
    return hn::Mul(s, hn::MulAdd(bounded, c, one));
  } else if constexpr (A == Activation::tanh) {
    // 1 - tanh^2 = 4 s(2 x) s(-2 x)
    const auto [s, c] = sigmoid(d, hn::Add(x, x));
    return hn::Mul(hn::Mul(s, c), constant(d, 4.0));
  } else if constexpr (A == Activation::sigmoid) {
    const auto [s, c] = sigmoid(d, x);
    return hn::Mul(s, c);
  } else {
    return one;
  }
}

// Calls f(std::integral_constant<Activation, activation>()): from the run-time value to a template argument.
template <class F>
HWY_INLINE void with_activation(Activation activation, const F& f) {
  switch (activation) {
    case Activation::none: return f(std::integral_constant<Activation, Activation::none>());
    case Activation::relu: return f(std::integral_constant<Activation, Activation::relu>());
    case Activation::gelu: return f(std::integral_constant<Activation, Activation::gelu>());
    case Activation::gelu_tanh: return f(std::integral_constant<Activation, Activation::gelu_tanh>());
    case Activation::silu: return f(std::integral_constant<Activation, Activation::silu>());
    case Activation::tanh: return f(std::integral_constant<Activation, Activation::tanh>());
    case Activation::sigmoid: return f(std::integral_constant<Activation, Activation::sigmoid>());
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

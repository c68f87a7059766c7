#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/optimizer.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/optimizer.h"
#include "heed/kernels/vector_math-inl.h"

#ifndef HEED_OPTIMIZER_KERNELS
#define HEED_OPTIMIZER_KERNELS(K, T, suffix)                                                               \
  K(void, sgd, T, suffix, (const SgdStep& o, const T* grad, T* parameter, T* buffer, std::int64_t n),      \
    (o, grad, parameter, buffer, n))                                                                       \
  K(void, adam, T, suffix,                                                                                 \
    (const AdamStep& o, const T* grad, T* parameter, T* mean, T* square, T* max_square, std::int64_t n),   \
    (o, grad, parameter, mean, square, max_square, n))                                                     \
  K(void, adagrad, T, suffix, (const AdagradStep& o, const T* grad, T* parameter, T* sum, std::int64_t n), \
    (o, grad, parameter, sum, n))                                                                          \
  K(void, rmsprop, T, suffix,                                                                              \
    (const RmspropStep& o, const T* grad, T* parameter, T* square, T* average, T* buffer, std::int64_t n), \
    (o, grad, parameter, square, average, buffer, n))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kUpdateGrain = 8192;

// State that an optimiser may not need is null.
template <class T>
HWY_INLINE T* at(T* state, std::int64_t begin) {
  return state ? state + begin : nullptr;
}

template <class T>
HWY_INLINE void sgd_range(SgdStep o, const T* grad, T* parameter, T* buffer, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto decay = constant(d, o.weight_decay), minus_lr = constant(d, -o.lr);
  const auto momentum = constant(d, o.momentum), fresh = constant(d, 1 - o.dampening);
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    const auto p = load_some(d, parameter + i, count);
    auto g = hn::MulAdd(decay, p, load_some(d, grad + i, count));
    if (o.momentum != 0) {
      const auto b = o.step == 1 ? g : hn::MulAdd(fresh, g, hn::Mul(load_some(d, buffer + i, count), momentum));
      store_some(b, d, buffer + i, count);
      g = o.nesterov ? hn::MulAdd(momentum, b, g) : b;
    }
    store_some(hn::MulAdd(minus_lr, g, p), d, parameter + i, count);
  });
}

template <class T>
void sgd(const SgdStep& o, const T* grad, T* parameter, T* buffer, std::int64_t n) {
  parallel_for(n, kUpdateGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    sgd_range<T>(o, grad + begin, parameter + begin, at(buffer, begin), end - begin);
  });
}

template <class T>
HWY_INLINE void adam_range(AdamStep o, const T* grad, T* parameter, T* mean, T* square, T* max_square, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const double correction1 = 1 - std::pow(o.beta1, static_cast<double>(o.step));
  const double correction2 = 1 - std::pow(o.beta2, static_cast<double>(o.step));
  const auto minus_step = constant(d, -o.lr / correction1), root = constant(d, std::sqrt(correction2));
  const auto beta1 = constant(d, o.beta1), beta2 = constant(d, o.beta2), eps = constant(d, o.eps);
  const auto fresh1 = constant(d, 1 - o.beta1), fresh2 = constant(d, 1 - o.beta2);
  const auto shrink = constant(d, o.decoupled ? 1 - o.lr * o.weight_decay : 1.0);
  const auto decay = constant(d, o.decoupled ? 0.0 : o.weight_decay);
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    const auto p = hn::Mul(load_some(d, parameter + i, count), shrink);
    const auto g = hn::MulAdd(decay, p, load_some(d, grad + i, count));
    const auto m = hn::MulAdd(fresh1, g, hn::Mul(load_some(d, mean + i, count), beta1));
    const auto v = hn::MulAdd(hn::Mul(fresh2, g), g, hn::Mul(load_some(d, square + i, count), beta2));
    store_some(m, d, mean + i, count);
    store_some(v, d, square + i, count);
    auto u = v;
    if (o.amsgrad) {
      u = hn::Max(load_some(d, max_square + i, count), v);
      store_some(u, d, max_square + i, count);
    }
    const auto denominator = hn::Add(hn::Div(hn::Sqrt(u), root), eps);
    store_some(hn::Add(p, hn::Div(hn::Mul(minus_step, m), denominator)), d, parameter + i, count);
  });
}

template <class T>
void adam(const AdamStep& o, const T* grad, T* parameter, T* mean, T* square, T* max_square, std::int64_t n) {
  parallel_for(n, kUpdateGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    adam_range<T>(o, grad + begin, parameter + begin, mean + begin, square + begin, at(max_square, begin), end - begin);
  });
}

template <class T>
HWY_INLINE void adagrad_range(AdagradStep o, const T* grad, T* parameter, T* sum, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const double lr = o.lr / (1 + static_cast<double>(o.step - 1) * o.lr_decay);
  const auto decay = constant(d, o.weight_decay), eps = constant(d, o.eps), minus_lr = constant(d, -lr);
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    const auto p = load_some(d, parameter + i, count);
    const auto g = hn::MulAdd(decay, p, load_some(d, grad + i, count));
    const auto s = hn::MulAdd(g, g, load_some(d, sum + i, count));
    store_some(s, d, sum + i, count);
    const auto denominator = hn::Add(hn::Sqrt(s), eps);
    store_some(hn::Add(p, hn::Div(hn::Mul(minus_lr, g), denominator)), d, parameter + i, count);
  });
}

template <class T>
void adagrad(const AdagradStep& o, const T* grad, T* parameter, T* sum, std::int64_t n) {
  parallel_for(n, kUpdateGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    adagrad_range<T>(o, grad + begin, parameter + begin, sum + begin, end - begin);
  });
}

template <class T>
HWY_INLINE void rmsprop_range(RmspropStep o, const T* grad, T* parameter, T* square, T* average, T* buffer,
                              std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto decay = constant(d, o.weight_decay), eps = constant(d, o.eps), minus_lr = constant(d, -o.lr);
  const auto alpha = constant(d, o.alpha), fresh = constant(d, 1 - o.alpha), momentum = constant(d, o.momentum);
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    const auto p = load_some(d, parameter + i, count);
    const auto g = hn::MulAdd(decay, p, load_some(d, grad + i, count));
    const auto s = hn::MulAdd(hn::Mul(fresh, g), g, hn::Mul(load_some(d, square + i, count), alpha));
    store_some(s, d, square + i, count);
    auto variance = s;
    if (o.centered) {
      const auto a = hn::MulAdd(fresh, g, hn::Mul(load_some(d, average + i, count), alpha));
      store_some(a, d, average + i, count);
      variance = at_least(hn::Zero(d), hn::NegMulAdd(a, a, s));  // rounding must not make it negative
    }
    const auto denominator = hn::Add(hn::Sqrt(variance), eps);
    if (o.momentum > 0) {
      const auto b = hn::Add(hn::Mul(load_some(d, buffer + i, count), momentum), hn::Div(g, denominator));
      store_some(b, d, buffer + i, count);
      store_some(hn::MulAdd(minus_lr, b, p), d, parameter + i, count);
    } else {
      store_some(hn::Add(p, hn::Div(hn::Mul(minus_lr, g), denominator)), d, parameter + i, count);
    }
  });
}

template <class T>
void rmsprop(const RmspropStep& o, const T* grad, T* parameter, T* square, T* average, T* buffer, std::int64_t n) {
  parallel_for(n, kUpdateGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    rmsprop_range<T>(o, grad + begin, parameter + begin, square + begin, at(average, begin), at(buffer, begin),
                     end - begin);
  });
}

HEED_TARGET_FUNCTIONS(HEED_OPTIMIZER_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_OPTIMIZER_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/activation.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include "heed/base/parallel.h"
#include "heed/kernels/activation-inl.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"

#ifndef HEED_ACTIVATION_KERNELS
#define HEED_ACTIVATION_KERNELS(K, T, suffix)                                                           \
  K(void, activate, T, suffix, (Activation a, const T* x, T* y, std::int64_t n), (a, x, y, n))          \
  K(void, activate_backward, T, suffix, (Activation a, const T* x, const T* dy, T* dx, std::int64_t n), \
    (a, x, dy, dx, n))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kActivationGrain = 8192;

template <class T>
void activate(Activation activation, const T* x, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  with_activation(activation, [&](auto constant_activation) HEED_LAMBDA {
    parallel_for(n, kActivationGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      map(d, x + begin, y + begin, end - begin,
          [&](auto v) HEED_LAMBDA { return activate<constant_activation()>(d, v); });
    });
  });
}

template <class T>
void activate_backward(Activation activation, const T* x, const T* dy, T* dx, std::int64_t n) {
  const hn::ScalableTag<T> d;
  with_activation(activation, [&](auto constant_activation) HEED_LAMBDA {
    parallel_for(n, kActivationGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
      map(d, x + begin, dy + begin, dx + begin, end - begin,
          [&](auto v, auto dv) HEED_LAMBDA { return hn::Mul(dv, activate_derivative<constant_activation()>(d, v)); });
    });
  });
}

HEED_TARGET_FUNCTIONS(HEED_ACTIVATION_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <array>

namespace heed::kernels {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"none", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"};

}  // namespace

HEED_PUBLIC_FUNCTIONS(HEED_ACTIVATION_KERNELS)

std::string_view to_string(Activation activation) {
  return kNames[static_cast<std::size_t>(activation)];
}

}  // namespace heed::kernels
#endif  // HWY_ONCE

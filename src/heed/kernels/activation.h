// Activation functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/types.h"

namespace heed::kernels {

using heed::Activation;

// "none", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid".
std::string_view to_string(Activation activation);

// y[i] = f(x[i]), i < n. y == x is allowed. NaN stays NaN; f(-inf) of gelu, gelu_tanh and silu is -0.
template <class T>
void activate(Activation activation, const T* x, T* y, std::int64_t n);

// dx[i] = dy[i] * f'(x[i]), x before the activation. dx may be dy or x. relu'(0) = 0.
template <class T>
void activate_backward(Activation activation, const T* x, const T* dy, T* dx, std::int64_t n);

}  // namespace heed::kernels

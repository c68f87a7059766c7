// Activation functions by themselves; linear() and feed_forward() fuse them.
#pragma once

#include "heed/base/types.h"
#include "heed/tensor/tensor.h"

namespace heed {

Tensor activate(const Tensor& x, Activation activation);
inline Tensor relu(const Tensor& x) {
  return activate(x, Activation::relu);
}
inline Tensor gelu(const Tensor& x) {  // the exact one, by erf
  return activate(x, Activation::gelu);
}
inline Tensor gelu_tanh(const Tensor& x) {
  return activate(x, Activation::gelu_tanh);
}
inline Tensor silu(const Tensor& x) {
  return activate(x, Activation::silu);
}
inline Tensor tanh(const Tensor& x) {
  return activate(x, Activation::tanh);
}
inline Tensor sigmoid(const Tensor& x) {
  return activate(x, Activation::sigmoid);
}

}  // namespace heed

// Products with a weight, with bias, activation and residual fused.
#pragma once

#include "heed/base/types.h"
#include "heed/ops/weight.h"
#include "heed/tensor/tensor.h"

namespace heed {

// activation(x W^T + bias) + residual, in one pass over the output.
//   x [..., in], weight [out, in] (as HuggingFace stores it), bias [out] or undefined, residual [..., out] or
//   undefined.
Tensor linear(const Tensor& x, const Weight& weight, const Tensor& bias = Tensor(),
              Activation activation = Activation::none, const Tensor& residual = Tensor());

// x W: [..., out] to [..., in].
Tensor linear_transposed(const Tensor& x, const Weight& weight);

// linear(activation(linear(x, w1, b1)), w2, b2) + residual as one op: the backward pass multiplies by the activation's
// derivative inside the product. w1 [inner, in], w2 [out, inner].
Tensor feed_forward(const Tensor& x, const Weight& w1, const Tensor& b1, Activation activation, const Weight& w2,
                    const Tensor& b2, const Tensor& residual = Tensor());

}  // namespace heed

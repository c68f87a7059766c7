// Matrix products: matmul of two computed tensors, and linear with a weight, its activation and residual fused.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/tensor/tensor.h"

namespace heed {

using kernels::Activation;

// a [..., M, K] times b [..., K, N] gives [..., M, N]. Leading axes are equal or broadcast. A transposed view of the
// last two axes costs no copy.
Tensor matmul(const Tensor& a, const Tensor& b);

// activation(x W^T + bias) + residual, in one pass over the output.
//   x [..., in], weight [out, in] (as HuggingFace stores it), bias [out] or undefined, residual [..., out] or
//   undefined.
// The weight is packed once and kept with its bytes until they change.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor(),
              Activation activation = Activation::none, const Tensor& residual = Tensor());

// linear(activation(linear(x, w1, b1)), w2, b2) + residual as one op: the backward pass multiplies by the activation's
// derivative inside the product. w1 [inner, in], w2 [out, inner].
Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, Activation activation, const Tensor& w2,
                    const Tensor& b2, const Tensor& residual = Tensor());

}  // namespace heed

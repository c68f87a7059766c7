// The matrix product of two computed tensors; ops/linear.h has products with a weight.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

// a [..., M, K] times b [..., K, N] gives [..., M, N]. Leading axes are equal or broadcast. A transposed view of the
// last two axes costs no copy.
Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace heed

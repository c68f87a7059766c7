// Arithmetic between tensors, element by element. Inputs of one op have one type (f32 or f64); sizes of 1 stretch
// (broadcasting, aligned at the last axis), and the gradient of a stretched input is summed back.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);
// x * factor
Tensor scale(const Tensor& x, double factor);

// The values of x stretched to `shape`, without a copy; gradients are summed over the stretched axes.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

// Adjoint of broadcasting: x summed over the axes that stretching from `shape` added. No gradient of its own.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace heed

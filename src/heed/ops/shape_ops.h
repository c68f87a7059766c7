// Differentiable changes of shape: views where the strides allow it, copies where not.
#pragma once

#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

// Same elements in row-major order; one size may be -1 and is then inferred.
Tensor reshape(const Tensor& x, std::span<const std::int64_t> sizes);
Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> sizes);
// Two axes swapped (a view).
Tensor transpose(const Tensor& x, int axis_a, int axis_b);
// Elements begin..end-1 of an axis (a view).
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end);
// Consecutive slices of the given sizes, which must add up to the axis.
std::vector<Tensor> split(const Tensor& x, int axis, std::span<const std::int64_t> sizes);
// Inputs of equal type, and of equal shape except along `axis`, one after the other.
Tensor concat(std::span<const Tensor> parts, int axis);
// Itself if its bytes are in row-major order, else a copy that is.
Tensor contiguous(const Tensor& x);

}  // namespace heed

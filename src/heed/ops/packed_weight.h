// A weight [out, in] in the layout of the GEMM kernel, packed on first use and kept with its bytes until they change.
#pragma once

#include <memory>
#include <type_traits>

#include "heed/kernels/gemm.h"
#include "heed/tensor/tensor.h"

namespace heed {

// How the weight is used: y = x W^T (forward) or dx = dy W (backward).
enum class WeightUse { forward, backward };

// `weight` is contiguous.
template <class T>
std::shared_ptr<const kernels::PackedMatrix<T>> packed_weight(const Tensor& weight, WeightUse use) {
  const std::int64_t out = weight.size(0), in = weight.size(1);
  const bool forward = use == WeightUse::forward;
  return weight.storage()->packed<T>({.offset = weight.offset(),
                                      .rows = forward ? in : out,
                                      .columns = forward ? out : in,
                                      .leading = in,
                                      .transposed = forward,
                                      .is_f64 = std::is_same_v<T, double>});
}

}  // namespace heed

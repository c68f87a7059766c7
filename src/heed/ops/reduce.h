// Sums and means, over everything, over one axis, and over the tokens of packed sequences.
#pragma once

#include "heed/base/types.h"
#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Over all elements: a scalar (shape []).
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);
// Over one axis, which disappears.
Tensor sum(const Tensor& x, int axis);
Tensor mean(const Tensor& x, int axis);
// Over one axis, which stays with size 1. No gradient: a step of other ops' rules.
Tensor sum_over_axis(const Tensor& x, int axis);

// One row per sequence: values [N, C] to [B, C]. An empty sequence gives zeros.
Tensor pool(const Packed& sequences, PoolKind pooling);

}  // namespace heed

// Dropout as a pure function of (seed, stream, position): no hidden state, so a run can be resumed or recomputed.
#pragma once

#include "heed/base/types.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Names one use of dropout: `seed` of the run, `stream` of the step and the place (base/random.h, stream_id).
// Element i of x (row-major) becomes 0 with the given probability, else x / (1 - probability).
Tensor dropout(const Tensor& x, double probability, DropoutKey key);

}  // namespace heed

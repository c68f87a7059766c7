// Conversion between number formats, rounding to nearest even. Infinities, subnormals and NaN keep their meaning
// (a NaN becomes a quiet one).
#pragma once

#include <cstdint>

#include "heed/base/types.h"

namespace heed::kernels {

// y[i] = x[i]. Pairs: float <-> double, float <-> Float16, float <-> BFloat16. x and y do not overlap.
template <class From, class To>
void convert(const From* x, To* y, std::int64_t n);

}  // namespace heed::kernels

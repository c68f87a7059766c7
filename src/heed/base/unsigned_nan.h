// Results that are not a number, as people are to read them.
#pragma once

#include <cmath>
#include <limits>

namespace heed {

// The value; a NaN without its sign, which is the processor's whim, so that it prints as "nan" and never as "-nan".
inline double unsigned_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

}  // namespace heed

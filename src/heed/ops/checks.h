// Checks that the public doors of ops share; messages name the op and both sides.
#pragma once

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

inline void check_defined(const char* op, const Tensor& x) {
  HEED_CHECK(x.defined(), "[", op, "] an input has no value (default-constructed Tensor)");
}

inline void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  check_defined(op, a);
  check_defined(op, b);
  HEED_CHECK(a.dtype() == b.dtype(), "[", op, "] types differ: ", a.dtype(), a.shape(), " and ", b.dtype(), b.shape());
}

inline void check_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  check_same_dtype(op, a, b);
  HEED_CHECK(a.shape() == b.shape(), "[", op, "] shapes differ: ", a.shape(), " and ", b.shape());
}

// Every id in [0, limit); names the first one outside and where it stands.
void check_ids(const char* op, const Tensor& ids, std::int64_t limit);

}  // namespace heed

#include "heed/ops/dropout.h"

#include "heed/base/error.h"
#include "heed/kernels/dropout.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// The mask is not kept: the backward pass draws the same one again.
Tensor apply(const Tensor& x, double probability, DropoutKey key) {
  const Tensor input = x.detached_contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_float("dropout", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::dropout<T>(input.data<T>(), y.mutable_data<T>(), x.count(), probability, key);
  });
  return y;
}

}  // namespace

Tensor dropout(const Tensor& x, double probability, DropoutKey key) {
  check_defined("dropout", x);
  HEED_CHECK(probability >= 0 && probability < 1, "[dropout] probability ", probability, ", expected 0 <= p < 1");
  if (probability == 0) return x;
  return record("dropout", apply(x, probability, key), {x},
                [probability, key](Backward& g) { g.give(0, apply(g.grad(), probability, key)); });
}

}  // namespace heed

#include "heed/ops/activation.h"

#include "heed/kernels/activation.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {

Tensor activate(const Tensor& x, Activation activation) {
  check_defined("activate", x);
  const Tensor input = x.detached_contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  visit_float("activate", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::activate<T>(activation, input.data<T>(), y.mutable_data<T>(), x.count());
  });
  return record("activate", y, {x}, [input, activation](Backward& g) {
    Tensor dx = Tensor::empty(input.shape(), input.dtype());
    visit_float("activate", input.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::activate_backward<T>(activation, input.data<T>(), g.grad().data<T>(), dx.mutable_data<T>(),
                                    input.count());
    });
    g.give(0, dx);
  });
}

}  // namespace heed

#include "heed/ops/elementwise.h"

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"
#include "heed/ops/checks.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

using kernels::Binary;

// Whether `shape` is the trailing axes of `whole`, apart from leading ones of size 1: a row stretched over the rows.
bool is_stretched_row(const Shape& shape, const Shape& whole) {
  int axis = 0;
  while (axis < shape.rank() && shape[axis] == 1) ++axis;
  for (int back = shape.rank() - axis; back >= 1; --back) {
    if (shape[-back] != whole[-back]) return false;
  }
  return shape.count() > 0 && shape.count() < whole.count();
}

// Without history. A stretched row on the right (a bias, a mask) is walked in place; other stretched inputs are copied.
Tensor binary(const char* op, Binary kind, const Tensor& a, const Tensor& b) {
  check_same_dtype(op, a, b);
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  Tensor result = Tensor::empty(shape, a.dtype());
  const bool by_rows = a.shape() == shape && is_stretched_row(b.shape(), shape);
  const Tensor left = a.detached_expand(shape).detached_contiguous(),
               right = by_rows ? b.detached_contiguous() : b.detached_expand(shape).detached_contiguous();
  visit_float(op, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *l = left.data<T>(), *r = right.data<T>();
    T* out = result.mutable_data<T>();
    if (by_rows) return kernels::binary_row<T>(kind, l, r, out, shape.count() / right.count(), right.count());
    kernels::binary<T>(kind, l, r, out, shape.count());
  });
  return result;
}

Tensor scaled(const char* op, const Tensor& x, double factor) {
  Tensor result = Tensor::empty(x.shape(), x.dtype());
  const Tensor source = x.detached_contiguous();
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::scale<T>(source.data<T>(), static_cast<T>(factor), T(0), result.mutable_data<T>(), x.count());
  });
  return result;
}

}  // namespace

Tensor sum_to(const Tensor& x, const Shape& shape) {
  Tensor result = x.detach();
  const int added = x.rank() - shape.rank();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool stretched = axis < added || (shape[axis - added] == 1 && x.size(axis) != 1);
    if (stretched) result = sum_over_axis(result, axis);
  }
  return result.detached_contiguous().detached_reshape(shape);
}

Tensor add(const Tensor& a, const Tensor& b) {
  return record("add", binary("add", Binary::add, a, b), {a, b}, [sa = a.shape(), sb = b.shape()](Backward& g) {
    if (g.wants(0)) g.give(0, sum_to(g.grad(), sa));
    if (g.wants(1)) g.give(1, sum_to(g.grad(), sb));
  });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  return record("subtract", binary("subtract", Binary::sub, a, b), {a, b},
                [sa = a.shape(), sb = b.shape()](Backward& g) {
                  if (g.wants(0)) g.give(0, sum_to(g.grad(), sa));
                  if (g.wants(1)) g.give(1, scaled("subtract", sum_to(g.grad(), sb), -1));
                });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  return record("multiply", binary("multiply", Binary::mul, a, b), {a, b},
                [a = a.detach(), b = b.detach()](Backward& g) {
                  if (g.wants(0)) g.give(0, sum_to(binary("multiply", Binary::mul, g.grad(), b), a.shape()));
                  if (g.wants(1)) g.give(1, sum_to(binary("multiply", Binary::mul, g.grad(), a), b.shape()));
                });
}

// y = a / b:  da = dy / b,  db = -dy * y / b
Tensor divide(const Tensor& a, const Tensor& b) {
  return record(
      "divide", binary("divide", Binary::div, a, b), {a, b},
      [sa = a.shape(), b = b.detach()](Backward& g) {
        const Tensor quotient = binary("divide", Binary::div, g.grad(), b);
        if (g.wants(0)) g.give(0, sum_to(quotient, sa));
        if (g.wants(1)) {
          const Tensor product = binary("divide", Binary::mul, quotient, g.output());
          g.give(1, scaled("divide", sum_to(product, b.shape()), -1));
        }
      },
      Keep::output);
}

Tensor scale(const Tensor& x, double factor) {
  return record("scale", scaled("scale", x, factor), {x},
                [factor](Backward& g) { g.give(0, scaled("scale", g.grad(), factor)); });
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return record("broadcast_to", x.detached_expand(shape), {x},
                [from = x.shape()](Backward& g) { g.give(0, sum_to(g.grad(), from)); });
}

}  // namespace heed

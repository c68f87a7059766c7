#include "heed/ops/matmul.h"

#include "heed/base/error.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/checks.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

template <class T>
using Operand = kernels::BatchedOperand<T>;

// The last two axes as the kernel wants them: rows contiguous, or (a transposed view) columns contiguous; anything
// else is copied. Leading axes must be contiguous among themselves.
struct Matrices {
  Tensor tensor;
  std::int64_t ld = 0, stride = 0;
  bool transposed = false;
};

Matrices matrices(const Tensor& x) {
  auto stride = [&](const Tensor& t, int axis) { return t.strides()[static_cast<std::size_t>(t.rank() + axis)]; };
  const std::int64_t rows = x.size(-2), columns = x.size(-1);
  const Tensor swapped = x.detached_transpose(-1, -2);
  if (x.rank() == 2 && rows > 0 && columns > 0) {
    if (stride(x, -1) == 1 && stride(x, -2) >= columns) return {x.detach(), stride(x, -2), 0, false};
    if (stride(x, -2) == 1 && stride(x, -1) >= rows) return {x.detach(), stride(x, -1), 0, true};
  }
  if (!x.is_contiguous() && swapped.is_contiguous()) return {x.detach(), rows, rows * columns, true};
  return {x.detached_contiguous(), columns, rows * columns, false};
}

// Without history; batch axes are already equal.
Tensor product(const Tensor& a, const Tensor& b) {
  const std::int64_t M = a.size(-2), K = a.size(-1), N = b.size(-1);
  Tensor c = Tensor::empty(a.shape().with(-1, N), a.dtype());
  const std::int64_t batch = c.shape().product(0, c.rank() - 2);
  const Matrices left = matrices(a), right = matrices(b);
  visit_float("matmul", a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::gemm_batched<T>(batch, M, N, K,
                             Operand<const T>{left.tensor.data<T>(), left.ld, left.stride, left.transposed},
                             Operand<const T>{right.tensor.data<T>(), right.ld, right.stride, right.transposed},
                             Operand<T>{c.mutable_data<T>(), N, M * N, false});
  });
  return c;
}

// The shape [leading axes of `batch`, rows, columns].
Shape with_matrix(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  return batch.with(-2, rows).with(-1, columns);
}

}  // namespace

// y = a b:  da = dy b^T,  db = a^T dy
Tensor matmul(const Tensor& a, const Tensor& b) {
  check_same_dtype("matmul", a, b);
  HEED_CHECK(a.rank() >= 2 && b.rank() >= 2 && a.size(-1) == b.size(-2), "[matmul] ", a.shape(), " times ", b.shape(),
             ": expected [..., M, K] and [..., K, N]");
  const Shape batch = broadcast_shapes("matmul", a.shape().with(-1, 1).with(-2, 1), b.shape().with(-1, 1).with(-2, 1));
  const Tensor left = a.detached_expand(with_matrix(batch, a.size(-2), a.size(-1))).detach();
  const Tensor right = b.detached_expand(with_matrix(batch, b.size(-2), b.size(-1))).detach();
  return record("matmul", product(left, right), {a, b}, [left, right, sa = a.shape(), sb = b.shape()](Backward& g) {
    if (g.wants(0)) g.give(0, sum_to(product(g.grad(), right.detached_transpose(-1, -2)), sa));
    if (g.wants(1)) g.give(1, sum_to(product(left.detached_transpose(-1, -2), g.grad()), sb));
  });
}

}  // namespace heed

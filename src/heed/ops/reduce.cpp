#include "heed/ops/reduce.h"

#include "heed/base/error.h"
#include "heed/kernels/pool.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/checks.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {

Tensor sum_over_axis(const Tensor& x, int axis) {
  check_defined("sum", x);
  const Shape& shape = x.shape();
  const int along = shape.normalize_axis(axis);
  const std::int64_t outer = shape.product(0, along), n = shape[along], inner = shape.product(along + 1, shape.rank());
  Tensor result = Tensor::empty(shape.with(along, 1), x.dtype());
  const Tensor source = x.detached_contiguous();
  visit_float("sum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* in = source.data<T>();
    T* out = result.mutable_data<T>();
    if (inner == 1) return kernels::sum_rows<T>(in, out, outer, n);
    for (std::int64_t i = 0; i < outer; ++i) kernels::sum_columns<T>(in + i * n * inner, out + i * inner, n, inner);
  });
  return result;
}

Tensor sum(const Tensor& x) {
  check_defined("sum", x);
  const Tensor source = x.detached_contiguous();
  const double total = visit_float("sum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return static_cast<double>(kernels::sum<T>(source.data<T>(), x.count()));
  });
  return record("sum", Tensor::full({}, total, x.dtype()), {x},
                [shape = x.shape()](Backward& g) { g.give(0, g.grad().detached_expand(shape).detached_contiguous()); });
}

Tensor mean(const Tensor& x) {
  HEED_CHECK(x.count() > 0, "[mean] of no elements, shape ", x.shape());
  return scale(sum(x), 1.0 / static_cast<double>(x.count()));
}

Tensor sum(const Tensor& x, int axis) {
  check_defined("sum", x);
  const int along = x.shape().normalize_axis(axis);
  std::array<std::int64_t, kMaxRank> sizes{};
  std::copy(x.shape().begin(), x.shape().begin() + along, sizes.begin());
  std::copy(x.shape().begin() + along + 1, x.shape().end(), sizes.begin() + along);
  const Shape shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(x.rank() - 1)));
  return record("sum", sum_over_axis(x, along).detached_reshape(shape), {x}, [along, from = x.shape()](Backward& g) {
    g.give(0, g.grad().detached_reshape(from.with(along, 1)).detached_expand(from).detached_contiguous());
  });
}

Tensor mean(const Tensor& x, int axis) {
  HEED_CHECK(x.size(axis) > 0, "[mean] over axis ", axis, " of shape ", x.shape(), ", which is empty");
  return scale(sum(x, axis), 1.0 / static_cast<double>(x.size(axis)));
}

Tensor pool(const Packed& sequences, PoolKind pooling) {
  const Tensor x = sequences.values.detached_contiguous();
  const Offsets offsets = sequences.offsets;
  HEED_CHECK(x.rank() == 2, "[pool] values ", x.shape(), ", expected [tokens, width]");
  const std::int64_t width = x.size(1);
  Tensor y = Tensor::empty({offsets.sequences(), width}, x.dtype());
  Tensor winners;  // for max: the token that won, [B, C]
  if (pooling == PoolKind::max) winners = Tensor::empty(y.shape(), DType::i64);
  visit_float("pool", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::pool<T>(pooling, x.data<T>(), offsets.values().data(), offsets.sequences(), width, y.mutable_data<T>(),
                     winners.defined() ? winners.mutable_data<std::int64_t>() : nullptr);
  });
  return record("pool", y, {sequences.values}, [pooling, offsets, winners, shape = x.shape()](Backward& g) {
    Tensor dx = Tensor::empty(shape, g.grad().dtype());
    visit_float("pool", dx.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::pool_backward<T>(pooling, g.grad().data<T>(), offsets.values().data(), offsets.sequences(), shape[1],
                                winners.defined() ? winners.data<std::int64_t>() : nullptr, dx.mutable_data<T>());
    });
    g.give(0, dx);
  });
}

}  // namespace heed

#include "heed/ops/gather.h"

#include "heed/base/error.h"
#include "heed/kernels/gather.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// [ids..., trailing axes of `rows` from axis 1 on]
Shape picked_shape(const char* op, const Shape& ids, const Shape& table) {
  HEED_CHECK(ids.rank() + table.rank() - 1 <= kMaxRank, "[", op, "] ids ", ids, " and table ", table,
             ": too many axes");
  std::array<std::int64_t, kMaxRank> sizes{};
  auto* next = std::copy(ids.begin(), ids.end(), sizes.data());
  next = std::copy(table.begin() + 1, table.end(), next);
  return Shape(std::span<const std::int64_t>(sizes.data(), next));
}

// Without history; ids are checked. Rows of 16-bit floats become f32.
Tensor pick(const char* op, const Tensor& table, const Tensor& ids) {
  const bool halves = table.dtype() == DType::f16 || table.dtype() == DType::bf16;
  Tensor rows = Tensor::empty(picked_shape(op, ids.shape(), table.shape()), halves ? DType::f32 : table.dtype());
  const std::int64_t width = table.shape().product(1, table.rank());
  visit_index(op, ids.dtype(), [&](auto index) {
    const auto* id = ids.data<decltype(index)>();
    if (halves) {
      float* to = rows.mutable_data<float>();
      table.dtype() == DType::f16 ? kernels::gather_rows(table.data<Float16>(), id, to, ids.count(), width)
                                  : kernels::gather_rows(table.data<BFloat16>(), id, to, ids.count(), width);
      return;
    }
    visit_float(op, table.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::gather_rows(table.data<T>(), id, rows.mutable_data<T>(), ids.count(), width);
    });
  });
  return rows;
}

// rows [ids..., width] added into zeros of `shape` [size, ...].
Tensor scatter(const char* op, const Tensor& rows, const Tensor& ids, const Shape& shape) {
  Tensor table = Tensor::zeros(shape, rows.dtype());
  visit_float(op, rows.dtype(), [&](auto zero) {
    visit_index(op, ids.dtype(), [&](auto index) {
      using T = decltype(zero);
      using Index = decltype(index);
      kernels::scatter_add_rows<T, Index>(rows.data<T>(), ids.data<Index>(), table.mutable_data<T>(), ids.count(),
                                          shape.product(1, shape.rank()));
    });
  });
  return table;
}

}  // namespace

Tensor take_rows(const Tensor& table, const Tensor& ids) {
  check_defined("take_rows", table);
  HEED_CHECK(table.rank() >= 1, "[take_rows] table ", table.shape(), " has no rows");
  check_ids("take_rows", ids, table.size(0));
  const Tensor flat_ids = ids.detached_contiguous();
  return record(
      "take_rows", pick("take_rows", table.detached_contiguous(), flat_ids), {table},
      [flat_ids, shape = table.shape()](Backward& g) { g.give(0, scatter("take_rows", g.grad(), flat_ids, shape)); });
}

Tensor take_rows(const Weight& table, const Tensor& ids) {
  HEED_CHECK(table.tensors().size() == 1, "[take_rows] the table is in ", table.tensors().size(), " parts");
  return take_rows(table.tensors().front(), ids);
}

Tensor scatter_rows(const Tensor& rows, const Tensor& ids, std::int64_t size) {
  check_defined("scatter_rows", rows);
  HEED_CHECK(size >= 0, "[scatter_rows] size ", size, " is negative");
  check_ids("scatter_rows", ids, size);
  HEED_CHECK(rows.rank() >= 1 && ids.rank() == 1 && rows.size(0) == ids.size(0), "[scatter_rows] rows ", rows.shape(),
             " and ids ", ids.shape(), ": expected [n, ...] and [n]");
  const Tensor flat_ids = ids.detached_contiguous();
  return record("scatter_rows",
                scatter("scatter_rows", rows.detached_contiguous(), flat_ids, rows.shape().with(0, size)), {rows},
                [flat_ids](Backward& g) { g.give(0, pick("scatter_rows", g.grad(), flat_ids)); });
}

Tensor one_hot(const Tensor& ids, std::int64_t classes, DType dtype) {
  HEED_CHECK(classes >= 0, "[one_hot] classes ", classes, " is negative");
  check_ids("one_hot", ids, classes);
  Tensor rows = Tensor::zeros(picked_shape("one_hot", ids.shape(), {0, classes}), dtype);
  const Tensor flat_ids = ids.detached_contiguous();
  visit_float("one_hot", dtype, [&](auto zero) {
    visit_index("one_hot", ids.dtype(), [&](auto index) {
      auto* row = rows.mutable_data<decltype(zero)>();
      const auto* id = flat_ids.data<decltype(index)>();
      for (std::int64_t i = 0; i < ids.count(); ++i) row[i * classes + static_cast<std::int64_t>(id[i])] = 1;
    });
  });
  return rows;
}

}  // namespace heed

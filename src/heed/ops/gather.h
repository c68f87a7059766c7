// Rows picked by ids, and their adjoint.
#pragma once

#include "heed/ops/weight.h"
#include "heed/tensor/tensor.h"

namespace heed {

// table [V, ...] and ids [...] (i32 or i64) give [ids..., ...]: row ids[i] of the table. Word embedding. A table of
// f16 or bf16 gives f32.
Tensor take_rows(const Tensor& table, const Tensor& ids);
Tensor take_rows(const Weight& table, const Tensor& ids);
// rows [n, ...] added into zeros [size, ...] at ids [n]; rows with equal ids are summed in their order.
Tensor scatter_rows(const Tensor& rows, const Tensor& ids, std::int64_t size);
// ids [...] as rows of 0 and 1, [ids..., classes]. No gradient.
Tensor one_hot(const Tensor& ids, std::int64_t classes, DType dtype = DType::f32);

}  // namespace heed

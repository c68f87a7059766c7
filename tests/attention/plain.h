// Attention as matrices, f64: one head, one sequence, no batch. What formulas of a page are held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/attention/attend.h"
#include "ops/op_case.h"

namespace heed::plain {

// Standard normal [rows, cols], a function of the name.
inline Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t cols) {
  return testing::values(name, {rows, cols});
}

inline Tensor transposed(const Tensor& x) {
  return x.detached_transpose(0, 1);
}

// q [n, d], k [m, d], v [m, e] as one sequence of one head.
inline AttentionInput one_head(const Tensor& q, const Tensor& k, const Tensor& v) {
  auto with_head = [](const Tensor& x) { return x.detached_contiguous().detached_reshape({x.size(0), 1, x.size(1)}); };
  return {.q = with_head(q), .k = with_head(k), .v = with_head(v), .queries = {q.size(0)}, .keys = {k.size(0)}};
}

// [n, e]
inline Tensor attended(const AttentionInput& input) {
  const Tensor y = attend(input);
  return y.detached_reshape({y.size(0), y.size(2)});
}
inline Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v) {
  return attended(one_head(q, k, v));
}

// [n, m]
inline Tensor weights(const AttentionInput& input) {
  return attention_rows(input, 0, 0, 0, input.q.size(0));
}

// The largest absolute difference; infinite for different shapes, which no test takes for equal.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  const auto x = a.detached_to(DType::f64).to_vector<double>(), y = b.detached_to(DType::f64).to_vector<double>();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

inline double row_sum(const Tensor& x, std::int64_t row) {
  double sum = 0;
  for (std::int64_t j = 0; j < x.size(1); ++j) sum += x.at({row, j});
  return sum;
}

// Equal up to rounding, and clearly not.
inline constexpr double kEqual = 1e-12, kDifferent = 1e-2;

}  // namespace heed::plain

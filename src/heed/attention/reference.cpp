#include "heed/attention/reference.h"

#include <algorithm>
#include <limits>

#include "heed/attention/problem.h"
#include "heed/attention/term_base.h"
#include "heed/attention/weight_dropout.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

// [tokens begin..end, heads, D] as [heads, tokens, D].
Tensor by_head(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return transpose(slice(x, 0, begin, end), 0, 1);
}

// [G, n, D] repeated to [H, n, D]: query head h reads key head h / (H / G).
Tensor repeated(const Tensor& x, std::int64_t heads) {
  const std::int64_t groups = x.size(0), n = x.size(1), width = x.size(2);
  if (groups == heads) return x;
  return reshape(broadcast_to(reshape(x, {groups, 1, n, width}), {groups, heads / groups, n, width}),
                 {heads, n, width});
}

// w . tanh(q_i + k_j), [H, n, m]
Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& weight) {
  const std::int64_t heads = q.size(0), n = q.size(1), m = k.size(1), width = q.size(2);
  const Tensor sums = tanh(add(reshape(q, {heads, n, 1, width}), reshape(k, {heads, 1, m, width})));
  const Tensor w = weight.rank() == 1 ? weight : reshape(weight, {heads, 1, 1, width});
  return sum(multiply(sums, w), 3);
}

// 0 or 1 / (1 - p) for every weight of a sequence.
Tensor dropout_factors(const AttentionProblem& problem, const Tensor& attention, std::int64_t sequence) {
  const std::int64_t queries = attention.size(1), keys = attention.size(2);
  Tensor factors = Tensor::empty(attention.shape(), DType::f64);
  const DropoutFactors<double> dropout(*problem.dropout, problem.layout);
  for (std::int64_t head = 0; head < attention.size(0); ++head) {
    dropout.fill({sequence, head, 0, queries, 0, keys, factors.mutable_data<double>() + head * queries * keys, keys});
  }
  return factors.detached_to(attention.dtype());
}

// sum_j a_ij table[clip(distance)], [H, n, E]
Tensor relative_value_sums(const AttentionProblem& problem, const Tensor& table, const Tensor& attention,
                           std::int64_t sequence) {
  const std::int64_t heads = attention.size(0), queries = attention.size(1), keys = attention.size(2),
                     reach = table.size(0) / 2, width = table.size(-1);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      rows.push_back(std::clamp(j - problem.layout.position(sequence, i), -reach, reach) + reach);
    }
  }
  const Tensor wide = table.rank() == 3
                          ? table
                          : broadcast_to(reshape(table, {table.size(0), 1, width}), {table.size(0), heads, width});
  const Tensor picked = take_rows(wide, Tensor::from(rows, {queries, keys}));  // [n, m, H, E]
  const Tensor by_head = transpose(transpose(picked, 0, 2), 1, 2);             // [H, n, m, E]
  return sum(multiply(by_head, reshape(attention, {heads, queries, keys, 1})), 2);
}

}  // namespace

Tensor attend_reference(const AttentionInput& input, std::vector<Tensor>* weights) {
  const AttentionProblem problem(input);
  const AttentionLayout& layout = problem.layout;
  const std::int64_t heads = input.q.size(1);
  const Tensor keys = input.cache ? input.cache->keys() : input.k;
  const Tensor values = input.cache ? input.cache->values() : input.v;
  std::vector<Tensor> outputs;
  for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
    const Tensor q = by_head(input.q, layout.queries.begin(b), layout.queries.end(b));
    const Tensor k = repeated(by_head(keys, layout.keys.begin(b), layout.keys.end(b)), heads);
    const Tensor v = repeated(by_head(values, layout.keys.begin(b), layout.keys.end(b)), heads);
    Tensor scores = input.additive ? additive_scores(q, k, input.additive->weight)
                                   : scale(matmul(q, transpose(k, 1, 2)), problem.scale);
    for (const Term& term : input.terms) scores = term->reference(scores, b, problem.term_call());
    if (problem.masked) {
      scores = add(scores, score_constant(scores, [&](std::int64_t, std::int64_t i, std::int64_t j) {
                     const kernels::Range seen = problem.visible(b, i);
                     return j >= seen.begin && j < seen.end ? 0.0 : -std::numeric_limits<double>::infinity();
                   }));
    }
    Tensor attention = softmax(scores);  // a row of -inf gives zeros
    if (weights) weights->push_back(attention.detach());
    if (problem.dropout) attention = multiply(attention, dropout_factors(problem, attention, b));
    Tensor output = matmul(attention, v);
    if (problem.relative_values.defined()) {
      output = add(output, relative_value_sums(problem, input.relative_values, attention, b));
    }
    outputs.push_back(transpose(output, 0, 1));
  }
  if (outputs.empty()) return Tensor::zeros({0, heads, problem.value_width}, input.q.dtype());
  return concat(outputs, 0);
}

}  // namespace heed

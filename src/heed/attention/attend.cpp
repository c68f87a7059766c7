#include "heed/attention/attend.h"

#include <cmath>

#include "heed/attention/additive.h"
#include "heed/attention/problem.h"
#include "heed/attention/relative_values.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

void fill_summary(AttentionSummary& summary, const Shape& rows, DType dtype) {
  HEED_CHECK(summary.top_k >= 0 && summary.top_k <= 16, "[attend] top_k is ", summary.top_k, ", expected 0 to 16");
  summary.entropy = Tensor::empty(rows, dtype);
  summary.maximum = Tensor::empty(rows, dtype);
  summary.link_keys = Tensor::empty({rows[0], rows[1], summary.top_k}, DType::i64);
  summary.link_weights = Tensor::empty({rows[0], rows[1], summary.top_k}, dtype);
}

template <class T>
kernels::AttentionSummary<T> kernel_summary(AttentionSummary* summary) {
  if (!summary) return {};
  return {.entropy = summary->entropy.mutable_data<T>(),
          .maximum = summary->maximum.mutable_data<T>(),
          .top_k = summary->top_k,
          .link_keys = summary->link_keys.mutable_data<std::int64_t>(),
          .link_weights = summary->link_weights.mutable_data<T>()};
}

// Tensors beside q, k, v that gradients may go to, in the order in which they are recorded and given.
void append_further_inputs(const AttentionInput& input, PoolVector<Tensor>& tensors) {
  tensors.push_back(input.additive ? input.additive->weight : Tensor());
  tensors.push_back(input.relative_values);
  for (const Term& term : input.terms) {
    for (const Tensor& tensor : term->tensors()) tensors.push_back(tensor);
  }
}

struct Computed {
  std::shared_ptr<const AttentionProblem> problem;
  Tensor out, log_sum;
  Tensor by_distance;  // weights, for the gradient of relative values
};

Computed compute(const AttentionInput& input, AttentionSummary* summary) {
  const auto problem = std::allocate_shared<const AttentionProblem>(PoolAllocator<AttentionProblem>(), input);
  const Shape rows{problem->q.size(0), problem->q.size(1)};
  const DType dtype = problem->q.dtype();
  Computed result{problem, Tensor::empty({rows[0], rows[1], problem->value_width}, dtype), Tensor::empty(rows, dtype),
                  Tensor()};
  if (summary) {
    fill_summary(*summary, rows, dtype);
    summary->log_sum = result.log_sum;
  }
  visit_float("attend", dtype, [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(*problem);
    kernels::attention<T>(call.inputs(), result.out.mutable_data<T>(), problem->out_stride(),
                          result.log_sum.mutable_data<T>(), kernel_summary<T>(summary));
    if (!problem->relative_values.defined()) return;
    result.by_distance = add_relative_values<T>(call, result.log_sum.data<T>(), result.out.mutable_data<T>());
  });
  return result;
}

// Runs the backward pass into dq, dk, dv (laid out as q, k, v are) and gives the further inputs, from number `first`
// on, theirs. With an additive score dq and dk are replaced by its own.
template <class T>
void run_backward(const Computed& c, Backward& g, std::size_t first, Tensor& dq, Tensor& dk, Tensor& dv) {
  KernelCall<T> call(*c.problem);
  const bool additive = call.additive != nullptr;
  if (additive) call.additive->prepare_backward();
  for (const auto& rule : call.rules) rule->prepare_backward();
  std::optional<RelativeValuesRule<T>> last_rule;
  if (c.problem->relative_values.defined()) {
    last_rule.emplace(call, c.log_sum.data<T>(), g.grad().data<T>());
    call.rule_pointers.push_back(&*last_rule);
  }
  kernels::attention_backward<T>(call.inputs(), c.out.data<T>(), g.grad().data<T>(), c.problem->out_stride(),
                                 c.log_sum.data<T>(),
                                 {.dq = additive ? nullptr : dq.mutable_data<T>(),
                                  .dk = additive ? nullptr : dk.mutable_data<T>(),
                                  .dv = dv.mutable_data<T>()});
  if (additive) {
    dq = call.additive->query_gradient();
    dk = call.additive->key_gradient();
    g.give(first, call.additive->weight_gradient());
  }
  if (last_rule) g.give(first + 1, last_rule->table_gradient(c.by_distance));
  std::size_t input = first + 2;
  for (const auto& rule : call.rules) {
    for (const Tensor& gradient : rule->gradients()) g.give(input++, gradient);
  }
}

// Heads first_head .. first_head + count of a tensor like fused projections, as a view [N, count, D].
Tensor fused_part(const Tensor& whole, std::int64_t width, std::int64_t first_head, std::int64_t count) {
  return whole.detached_view({whole.size(0), count, width}, {whole.size(1), width, 1},
                             whole.offset() + first_head * width);
}

}  // namespace

Tensor attend(const AttentionInput& input, AttentionSummary* summary) {
  if (input.cache) {
    PoolVector<Tensor> inputs = {input.q};
    append_further_inputs(input, inputs);
    HEED_CHECK(!records(inputs), "[attend] a cache keeps no gradients: use NoGrad");
    return compute(input, summary).out;
  }
  AttentionInput compact = input;  // the gradients are contiguous, and have the layout of what they are gradients of
  compact.q = input.q.detached_contiguous();
  compact.k = input.k.detached_contiguous();
  compact.v = input.v.detached_contiguous();
  const Computed c = compute(compact, summary);
  PoolVector<Tensor> inputs = {input.q, input.k, input.v};
  append_further_inputs(input, inputs);
  return record("attend", c.out.detach(), inputs, [c](Backward& g) {
    const AttentionProblem& p = *c.problem;
    Tensor dq = Tensor::empty(p.q.shape(), p.q.dtype()), dk = Tensor::empty(p.k.shape(), p.k.dtype()),
           dv = Tensor::empty(p.v.shape(), p.v.dtype());
    visit_float("attend", dq.dtype(), [&](auto zero) { run_backward<decltype(zero)>(c, g, 3, dq, dk, dv); });
    g.give(0, dq);
    g.give(1, dk);
    g.give(2, dv);
  });
}

AttentionInput with_fused(AttentionInput input, const Tensor& qkv, std::int64_t heads, std::int64_t key_heads) {
  HEED_CHECK(
      qkv.defined() && qkv.rank() == 2 && heads > 0 && key_heads > 0 && qkv.size(1) % (heads + 2 * key_heads) == 0,
      "[attend_fused] projections ", qkv.shape(), " for ", heads, " query and ", key_heads,
      " key heads: expected [N, (heads + 2 key heads) D]");
  HEED_CHECK(!input.additive, "[attend_fused] additive scores need separate q and k");
  const std::int64_t width = qkv.size(1) / (heads + 2 * key_heads);
  const Tensor fused = qkv.detached_contiguous();
  input.q = fused_part(fused, width, 0, heads);
  input.k = fused_part(fused, width, heads, key_heads);
  input.v = fused_part(fused, width, heads + key_heads, key_heads);
  return input;
}

Tensor attend_fused(const Tensor& qkv, std::int64_t heads, std::int64_t key_heads, AttentionInput input,
                    AttentionSummary* summary) {
  input = with_fused(std::move(input), qkv, heads, key_heads);
  const Computed c = compute(input, summary);
  PoolVector<Tensor> inputs = {qkv};
  append_further_inputs(input, inputs);
  return record("attend_fused", c.out.detach(), inputs, [c, heads, key_heads, shape = qkv.shape()](Backward& g) {
    Tensor d = Tensor::empty(shape, g.grad().dtype());
    const std::int64_t width = c.problem->q.size(2);
    Tensor dq = fused_part(d, width, 0, heads), dk = fused_part(d, width, heads, key_heads),
           dv = fused_part(d, width, heads + key_heads, key_heads);
    visit_float("attend_fused", d.dtype(), [&](auto zero) { run_backward<decltype(zero)>(c, g, 1, dq, dk, dv); });
    g.give(0, d);
  });
}

Tensor attention_rows(const AttentionInput& input, const Tensor& log_sum, std::int64_t sequence, std::int64_t head,
                      std::int64_t query_begin, std::int64_t query_end) {
  const AttentionProblem problem(input);
  const Offsets& queries = problem.layout.queries;
  HEED_CHECK(sequence >= 0 && sequence < queries.sequences() && head >= 0 && head < problem.q.size(1) &&
                 query_begin >= 0 && query_begin <= query_end && query_end <= queries.length(sequence),
             "[attention_rows] sequence ", sequence, ", head ", head, ", queries ", query_begin, "..", query_end,
             " are not all there: ", queries.sequences(), " sequences, q ", problem.q.shape());
  HEED_CHECK(log_sum.defined() && log_sum.is_contiguous() && log_sum.dtype() == problem.q.dtype() &&
                 log_sum.shape() == Shape({problem.q.size(0), problem.q.size(1)}),
             "[attention_rows] log_sum ", log_sum.shape(), " for q ", problem.q.shape());
  const std::int64_t rows = query_end - query_begin, keys = problem.layout.keys.length(sequence);
  Tensor weights = Tensor::empty({rows, keys}, problem.q.dtype());
  visit_float("attention_rows", problem.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const KernelCall<T> call(problem);
    T* first = weights.mutable_data<T>();
    constexpr std::int64_t kLeastRows = 64;
    parallel_for(rows, kLeastRows, [&](std::int64_t begin, std::int64_t end) {
      kernels::attention_rows<T>(call.inputs(), log_sum.data<T>(), sequence, head, query_begin + begin, end - begin,
                                 first + begin * keys);
    });
  });
  return weights;
}

Tensor attention_rows(const AttentionInput& input, std::int64_t sequence, std::int64_t head, std::int64_t query_begin,
                      std::int64_t query_end) {
  return attention_rows(input, compute(input, nullptr).log_sum, sequence, head, query_begin, query_end);
}

}  // namespace heed

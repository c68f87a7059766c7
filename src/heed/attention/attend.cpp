#include "heed/attention/attend.h"

#include <cmath>

#include "heed/attention/additive.h"
#include "heed/attention/after_softmax.h"
#include "heed/attention/problem.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

void fill_summary(AttentionSummary& summary, const Shape& rows, DType dtype) {
  HEED_CHECK(summary.links >= 0 && summary.links <= 16, "[attend] ", summary.links, " links asked for, at most 16");
  summary.entropy = Tensor::empty(rows, dtype);
  summary.maximum = Tensor::empty(rows, dtype);
  summary.link_keys = Tensor::empty({rows[0], rows[1], summary.links}, DType::i64);
  summary.link_weights = Tensor::empty({rows[0], rows[1], summary.links}, dtype);
}

template <class T>
kernels::AttentionSummary<T> kernel_summary(AttentionSummary* summary) {
  if (!summary) return {};
  return {.entropy = summary->entropy.mutable_data<T>(),
          .maximum = summary->maximum.mutable_data<T>(),
          .links = summary->links,
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
  Computed result{problem, Tensor::empty({rows[0], rows[1], problem->v.size(2)}, dtype), Tensor::empty(rows, dtype),
                  Tensor()};
  if (summary) fill_summary(*summary, rows, dtype);
  visit_float("attend", dtype, [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(*problem);
    kernels::attention<T>(call.inputs(), result.out.mutable_data<T>(), problem->out_stride(),
                          result.log_sum.mutable_data<T>(), kernel_summary<T>(summary));
    if (!problem->changes_weights()) return;
    result.by_distance = apply_after_softmax<T>(call, result.log_sum.data<T>(), result.out.mutable_data<T>());
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
  std::optional<AfterSoftmaxRule<T>> last_rule;
  if (c.problem->changes_weights()) {
    last_rule.emplace(*c.problem, c.log_sum.data<T>(), c.out.data<T>(), g.grad().data<T>());
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
  if (c.problem->relative_values.defined()) g.give(first + 1, last_rule->table_gradient(c.by_distance));
  if (c.problem->dropout) last_rule->write_value_gradient(KernelCall<T>(*c.problem), dv.mutable_data<T>());
  std::size_t input = first + 2;
  for (const auto& rule : call.rules) {
    for (const Tensor& gradient : rule->gradients()) g.give(input++, gradient);
  }
}

// Heads first, ..., first + count - 1 of a contiguous [N, all_heads * D], as a view [N, count, D].
Tensor fused_part(const Tensor& whole, std::int64_t all_heads, std::int64_t first, std::int64_t count) {
  const std::int64_t width = whole.size(1) / all_heads;
  return whole.view({whole.size(0), count, width}, {whole.size(1), width, 1}, whole.offset() + first * width);
}

// use(call, log_sum) with everything that kernels::attention_rows needs.
template <class Use>
void with_log_sums(const char* op, const AttentionProblem& problem, const Use& use) {
  Tensor out = Tensor::empty({problem.q.size(0), problem.q.size(1), problem.v.size(2)}, problem.q.dtype());
  Tensor log_sum = Tensor::empty({problem.q.size(0), problem.q.size(1)}, problem.q.dtype());
  visit_float(op, problem.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(problem);
    kernels::attention<T>(call.inputs(), out.mutable_data<T>(), problem.out_stride(), log_sum.mutable_data<T>());
    use(call, log_sum.data<T>());
  });
}

}  // namespace

Tensor attend(const AttentionInput& input, AttentionSummary* summary) {
  AttentionInput compact = input;  // the gradients are contiguous, and have the layout of what they are gradients of
  compact.q = input.q.contiguous();
  compact.k = input.k.contiguous();
  compact.v = input.v.contiguous();
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

AttentionInput fused_views(const Tensor& qkv, std::int64_t heads, std::int64_t key_heads, AttentionInput input) {
  HEED_CHECK(
      qkv.defined() && qkv.rank() == 2 && heads > 0 && key_heads > 0 && qkv.size(1) % (heads + 2 * key_heads) == 0,
      "[attend_fused] projections ", qkv.shape(), " for ", heads, " query and ", key_heads,
      " key heads: expected [N, (heads + 2 key heads) D]");
  HEED_CHECK(!input.additive, "[attend_fused] additive scores need separate q and k");
  const Tensor fused = qkv.contiguous();
  input.q = fused_part(fused, heads + 2 * key_heads, 0, heads);
  input.k = fused_part(fused, heads + 2 * key_heads, heads, key_heads);
  input.v = fused_part(fused, heads + 2 * key_heads, heads + key_heads, key_heads);
  return input;
}

Tensor attend_fused(const Tensor& qkv, std::int64_t heads, std::int64_t key_heads, AttentionInput input,
                    AttentionSummary* summary) {
  input = fused_views(qkv, heads, key_heads, std::move(input));
  const Computed c = compute(input, summary);
  PoolVector<Tensor> inputs = {qkv};
  append_further_inputs(input, inputs);
  return record("attend_fused", c.out.detach(), inputs, [c, heads, key_heads, shape = qkv.shape()](Backward& g) {
    const std::int64_t all = heads + 2 * key_heads;
    Tensor d = Tensor::empty(shape, g.grad().dtype());
    Tensor dq = fused_part(d, all, 0, heads), dk = fused_part(d, all, heads, key_heads),
           dv = fused_part(d, all, heads + key_heads, key_heads);
    visit_float("attend_fused", d.dtype(), [&](auto zero) { run_backward<decltype(zero)>(c, g, 1, dq, dk, dv); });
    g.give(0, d);
  });
}

Tensor attention_rows(const AttentionInput& input, std::int64_t sequence, std::int64_t head, std::int64_t query_begin,
                      std::int64_t query_end) {
  const AttentionProblem problem(input);
  const Offsets& queries = problem.layout.queries;
  HEED_CHECK(sequence >= 0 && sequence < queries.sequences() && head >= 0 && head < problem.q.size(1) &&
                 query_begin >= 0 && query_begin <= query_end && query_end <= queries.length(sequence),
             "[attention_rows] sequence ", sequence, ", head ", head, ", queries ", query_begin, "..", query_end,
             " are not all there: ", queries.sequences(), " sequences, q ", problem.q.shape());
  Tensor weights = Tensor::empty({query_end - query_begin, problem.layout.keys.length(sequence)}, problem.q.dtype());
  with_log_sums("attention_rows", problem, [&]<class T>(const KernelCall<T>& call, const T* log_sum) {
    kernels::attention_rows<T>(call.inputs(), log_sum, sequence, head, query_begin, query_end - query_begin,
                               weights.mutable_data<T>());
  });
  return weights;
}

std::vector<Tensor> attention_weights(const AttentionInput& input) {
  const AttentionProblem problem(input);
  const AttentionLayout& layout = problem.layout;
  const std::int64_t heads = problem.q.size(1);
  std::vector<Tensor> weights;
  for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
    weights.push_back(Tensor::empty({heads, layout.queries.length(b), layout.keys.length(b)}, problem.q.dtype()));
  }
  with_log_sums("attention_weights", problem, [&]<class T>(const KernelCall<T>& call, const T* log_sum) {
    for (std::int64_t b = 0; b < layout.queries.sequences(); ++b) {
      const std::int64_t queries = layout.queries.length(b), keys = layout.keys.length(b);
      T* to = weights[static_cast<std::size_t>(b)].template mutable_data<T>();
      parallel_for(heads, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t h = begin; h < end; ++h) {
          kernels::attention_rows<T>(call.inputs(), log_sum, b, h, 0, queries, to + h * queries * keys);
        }
      });
    }
  });
  return weights;
}

}  // namespace heed

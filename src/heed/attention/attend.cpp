#include "heed/attention/attend.h"

#include <cmath>

#include "heed/attention/additive.h"
#include "heed/attention/problem.h"
#include "heed/base/error.h"
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

// All tensors that gradients may go to, in the order of the recorded inputs: q, k, v, the additive weight, the terms'.
std::vector<Tensor> gradient_inputs(const AttentionInput& input) {
  std::vector<Tensor> tensors = {input.q, input.k, input.v, input.additive ? input.additive->weight : Tensor()};
  for (const Term& term : input.terms) {
    for (const Tensor& tensor : term->tensors()) tensors.push_back(tensor);
  }
  return tensors;
}

template <class T>
void run_backward(const AttentionProblem& problem, const Tensor& out, const Tensor& log_sum, Backward& g) {
  KernelCall<T> call(problem);
  Tensor dq = Tensor::zeros(problem.q.shape(), problem.q.dtype());
  Tensor dk = Tensor::zeros(problem.k.shape(), problem.k.dtype());
  Tensor dv = Tensor::zeros(problem.v.shape(), problem.v.dtype());
  const bool additive = call.additive != nullptr;
  if (additive) call.additive->prepare_backward();
  for (const auto& rule : call.rules) rule->prepare_backward();
  kernels::attention_backward<T>(call.inputs(), out.data<T>(), g.grad().data<T>(), problem.out_stride(),
                                 log_sum.data<T>(),
                                 {.dq = additive ? nullptr : dq.mutable_data<T>(),
                                  .dk = additive ? nullptr : dk.mutable_data<T>(),
                                  .dv = dv.mutable_data<T>()});
  g.give(0, additive ? call.additive->query_gradient() : dq);
  g.give(1, additive ? call.additive->key_gradient() : dk);
  g.give(2, dv);
  if (additive) g.give(3, call.additive->weight_gradient());
  std::size_t input = 4;
  for (const auto& rule : call.rules) {
    for (const Tensor& gradient : rule->gradients()) g.give(input++, gradient);
  }
}

}  // namespace

Tensor attend(const AttentionInput& input, AttentionSummary* summary) {
  const auto problem = std::make_shared<const AttentionProblem>(input);
  const Shape rows{problem->q.size(0), problem->q.size(1)};
  Tensor out = Tensor::empty({rows[0], rows[1], problem->v.size(2)}, input.q.dtype());
  Tensor log_sum = Tensor::empty(rows, input.q.dtype());
  if (summary) fill_summary(*summary, rows, input.q.dtype());
  visit_float("attend", input.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(*problem);
    kernels::attention<T>(call.inputs(), out.mutable_data<T>(), problem->out_stride(), log_sum.mutable_data<T>(),
                          kernel_summary<T>(summary));
  });
  const std::vector<Tensor> inputs = gradient_inputs(input);
  return record(
      "attend", out, inputs,
      [problem, log_sum](Backward& g) {
        visit_float("attend", g.grad().dtype(),
                    [&](auto zero) { run_backward<decltype(zero)>(*problem, g.output(), log_sum, g); });
      },
      Keep::output);
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
  Tensor out = Tensor::empty({problem.q.size(0), problem.q.size(1), problem.v.size(2)}, problem.q.dtype());
  Tensor log_sum = Tensor::empty({problem.q.size(0), problem.q.size(1)}, problem.q.dtype());
  visit_float("attention_rows", problem.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(problem);
    kernels::attention<T>(call.inputs(), out.mutable_data<T>(), problem.out_stride(), log_sum.mutable_data<T>());
    kernels::attention_rows<T>(call.inputs(), log_sum.data<T>(), sequence, head, query_begin, query_end - query_begin,
                               weights.mutable_data<T>());
  });
  return weights;
}

}  // namespace heed

// A checked call of attend(): contiguous tensors, positions, visible keys, and from them the kernel's own input.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/attention/additive.h"
#include "heed/attention/attend.h"
#include "heed/attention/cache.h"
#include "heed/attention/weight_dropout.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/ranges.h"

namespace heed {

// Throws naming every shape that does not fit. Holds values only, no history.
struct AttentionProblem {
  explicit AttentionProblem(const AttentionInput& input);

  std::int64_t out_stride() const { return q.size(1) * value_width; }
  TermCall term_call() const { return {layout, q.size(1), scale}; }
  // The keys that a query sees, both counted in their sequence.
  kernels::Range visible(std::int64_t sequence, std::int64_t query) const {
    if (!masked) return {0, layout.keys.length(sequence)};
    const auto token = static_cast<std::size_t>(layout.queries.begin(sequence) + query);
    return {visible_begin[token], visible_end[token]};
  }

  Tensor q;     // heads and features of a token are contiguous, tokens may be further apart
  Tensor k, v;  // likewise; undefined if they are in `cache`
  const KeyValueCache* cache;
  std::int64_t key_heads, value_width;
  AttentionLayout layout;
  double scale;
  bool masked;
  PoolVector<std::int64_t> visible_begin, visible_end;  // [Nq]; empty if nothing is masked
  std::vector<Term> terms;
  Tensor additive_weight;  // undefined: dot product
  Tensor relative_values;  // undefined: none
  std::optional<AttentionDropout> dropout;

 private:
  void check_released() const;
};

// The kernel's view of a problem, with the rules it applies; one object a pass, since rules collect gradients.
template <class T>
struct KernelCall {
  explicit KernelCall(const AttentionProblem& p) : problem(p) {
    for (const Term& term : p.terms) {
      if constexpr (std::is_same_v<T, float>) {
        rules.push_back(term->rule_f32(p.term_call()));
      } else {
        rules.push_back(term->rule_f64(p.term_call()));
      }
      rule_pointers.push_back(rules.back().get());
    }
    if (p.additive_weight.defined()) {
      additive = std::make_unique<AdditiveFunction<T>>(p.q, p.k, p.additive_weight, p.layout);
    }
    if (p.dropout) factors.emplace(*p.dropout, p.layout);
    for (std::int64_t b = 0; p.cache && b < p.cache->sequences(); ++b) {
      pages.push_back(p.cache->pages<T>(b));
      page_spans.push_back(pages.back());
    }
  }

  kernels::AttentionInputs<T> inputs() const {
    const Tensor &q = problem.q, &k = problem.k, &v = problem.v;
    const bool paged = problem.cache != nullptr;
    return {.q = q.data<T>(),
            .k = paged ? nullptr : k.data<T>(),
            .v = paged ? nullptr : v.data<T>(),
            .q_stride = q.strides()[0],
            .k_stride = paged ? 0 : k.strides()[0],
            .v_stride = paged ? 0 : v.strides()[0],
            .query_heads = q.size(1),
            .key_heads = problem.key_heads,
            .width = q.size(2),
            .value_width = problem.value_width,
            .query_offsets = problem.layout.queries.values(),
            .key_offsets = problem.layout.keys.values(),
            .pages = page_spans,
            .scale = problem.scale,
            .visible_begin = problem.masked ? problem.visible_begin.data() : nullptr,
            .visible_end = problem.masked ? problem.visible_end.data() : nullptr,
            .function = additive.get(),
            .rules = rule_pointers,
            .factors = factors ? &*factors : nullptr};
  }

  const AttentionProblem& problem;
  std::vector<std::unique_ptr<TermRule<T>>> rules;
  std::vector<kernels::ScoreRule<T>*> rule_pointers;
  std::unique_ptr<AdditiveFunction<T>> additive;
  std::optional<DropoutFactors<T>> factors;
  PoolVector<PoolVector<kernels::KeyValuePage<T>>> pages;  // of each sequence, where there is a cache
  PoolVector<std::span<const kernels::KeyValuePage<T>>> page_spans;
};

}  // namespace heed

// How terms are written: a description, and a template of the rule for float and double made from it.
#pragma once

#include "heed/attention/terms.h"

namespace heed {

// class SoftCap : public TermOf<SoftCap, SoftCapRule>: the rule is constructed with (const SoftCap&, const TermCall&).
template <class Description, template <class> class Rule>
class TermOf : public ScoreTerm {
 public:
  std::unique_ptr<TermRule<float>> rule_f32(const TermCall& call) const override {
    return std::make_unique<Rule<float>>(static_cast<const Description&>(*this), call);
  }
  std::unique_ptr<TermRule<double>> rule_f64(const TermCall& call) const override {
    return std::make_unique<Rule<double>>(static_cast<const Description&>(*this), call);
  }
};

// Calls body(score, i, j) for every score of a tile; i and j count from the start of their sequence.
template <class T, class Body>
void for_each_score(const kernels::ScoreTile<T>& tile, Body&& body) {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    T* row = tile.scores + i * tile.ld;
    for (std::int64_t j = 0; j < tile.keys; ++j) body(row[j], tile.query_begin + i, tile.key_begin + j);
  }
}

// A tensor [H, queries, keys] of a sequence whose elements are value(h, i, j): constants of the references.
template <class Value>
Tensor score_constant(const Tensor& scores, Value&& value) {
  const std::int64_t queries = scores.size(1), keys = scores.size(2);
  Tensor result = Tensor::empty(scores.shape(), scores.dtype());
  visit_float("attend_reference", scores.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* out = result.mutable_data<T>();
    for (std::int64_t n = 0; n < result.count(); ++n) {
      out[n] = static_cast<T>(value(n / (queries * keys), n / keys % queries, n % keys));
    }
  });
  return result;
}

}  // namespace heed

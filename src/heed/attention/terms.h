// What may happen to the scores between q . k and the softmax: biases, soft-cap, mask tensors, functions of the user.
//
// A ScoreTerm is a description that holds its tensors, which may require gradients. attend() asks it for the rule that
// the kernel applies tile by tile; attend_reference() for the same on a whole matrix, in plain differentiable ops.
// Query i of sequence b stands at layout.position(b, i); "distance" is key position - query position.
#pragma once

#include <memory>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/kernels/score_rule.h"
#include "heed/tensor/tensor.h"

namespace heed {

// A rule of the kernel that also keeps the gradients of its term's tensors.
template <class T>
class TermRule : public kernels::ScoreRule<T> {
 public:
  // Called once before the backward pass: makes room for gradients.
  virtual void prepare_backward() {}
  // One gradient for each of the term's tensors, in order; called after the backward pass.
  virtual std::vector<Tensor> gradients() { return {}; }
};

// What a term knows of the call it is part of.
struct TermCall {
  const AttentionLayout& layout;
  std::int64_t query_heads;
  double scale;
};

class ScoreTerm {
 public:
  virtual ~ScoreTerm() = default;
  virtual const char* name() const = 0;
  virtual std::vector<Tensor> tensors() const { return {}; }
  virtual std::unique_ptr<TermRule<float>> rule_f32(const TermCall& call) const = 0;
  virtual std::unique_ptr<TermRule<double>> rule_f64(const TermCall& call) const = 0;
  // scores [H, queries, keys] of one sequence, by plain ops.
  virtual Tensor reference(const Tensor& scores, std::int64_t sequence, const TermCall& call) const = 0;
};
using Term = std::shared_ptr<const ScoreTerm>;

// limit * tanh(score / limit)
Term soft_cap_term(double limit);

// score + bias. `bias` is one dense tensor for all sequences, [queries, keys] or [heads, queries, keys], or for a batch
// of equal lengths [batch, heads, queries, keys]; sizes of 1 stretch. It may hold -inf to hide keys.
Term bias_term(Tensor bias);
// The same with 0 / 1 (i32 or i64): 1 = attend, 0 = ignore.
Term mask_term(const Tensor& mask);

// ALiBi: score - slope[h] * |distance|. Without slopes the published ones: 2^(-8 (h+1) / heads) for powers of two, and
// those of neighbouring powers for other numbers of heads.
Term alibi_term(std::vector<double> slopes = {});

}  // namespace heed

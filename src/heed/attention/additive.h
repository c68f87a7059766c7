// Additive (Bahdanau) scores in tiles: w . tanh(q_i + k_j).
#pragma once

#include "heed/attention/mask.h"
#include "heed/kernels/score_rule.h"
#include "heed/tensor/tensor.h"

namespace heed {

template <class T>
class AdditiveFunction : public kernels::ScoreFunction<T> {
 public:
  // q [Nq, H, D], k [Nk, G, D], weight [D] or [H, D].
  AdditiveFunction(const Tensor& q, const Tensor& k, Tensor weight, const AttentionLayout& layout);

  void scores(const kernels::ScoreTile<T>& tile) const override;
  void backward(const kernels::ScoreTile<T>& d_scores) override;

  void prepare_backward();  // makes room for the gradients
  Tensor query_gradient() const { return dq_; }
  Tensor key_gradient() const { return dk_; }
  Tensor weight_gradient() const;

 private:
  const T* query_row(const kernels::ScoreTile<T>& tile, std::int64_t i) const;
  const T* key_row(const kernels::ScoreTile<T>& tile, std::int64_t j) const;
  const T* weight_row(std::int64_t head) const;

  Tensor q_, k_, weight_;
  const AttentionLayout& layout_;
  std::int64_t heads_, key_heads_, width_;
  Tensor dq_, dk_;
  Tensor d_weight_;  // [B, H, D]: sequences are walked by several threads
};

}  // namespace heed

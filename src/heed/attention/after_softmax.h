// What happens to the weights behind the softmax, which the kernel knows nothing of: dropout and relative values.
//   a'_ij = a_ij keep_ij / (1 - p)      o_i = sum_j a'_ij (v_j + table[clip(j - i)])
//
// Forward: rows of weights in tiles, computed again from log_sum. Backward: the kernel runs as ever, with the gradient
// of its weights put right by a last rule. Memory beyond the outputs is one tile of rows a thread, and for relative
// values the sum of a row's weights at each distance, [Nq, H, 2w + 1].
#pragma once

#include "heed/attention/problem.h"

namespace heed {

// For a problem that changes_weights(): makes `out` [Nq, H, E], as the kernel left it, the real output. Returns the
// weights by distance (undefined without relative values), for the backward pass.
template <class T>
Tensor apply_after_softmax(const KernelCall<T>& call, const T* log_sum, T* out);

// row[0..count) *= keep / (1 - p) of the keys key_begin, ... ; what is kept is a function of (key, sequence, head,
// query position, key position) alone.
template <class T>
void drop_weights(const AttentionDropout& dropout, const kernels::ScoreTile<T>& place, std::int64_t position, T* row);

// To be the last of the rules in kernels::attention_backward.
template <class T>
class AfterSoftmaxRule : public kernels::ScoreRule<T> {
 public:
  // log_sum, out and d_out as attention_backward gets them.
  AfterSoftmaxRule(const AttentionProblem& problem, const T* log_sum, const T* out, const T* d_out);
  void apply(const kernels::ScoreTile<T>&) const override {}
  void backward(const kernels::ScoreTile<T>& before, const kernels::ScoreTile<T>& after,
                const kernels::ScoreTile<T>& d_scores) override;

  // Of the table, from what apply_after_softmax() returned.
  Tensor table_gradient(const Tensor& by_distance) const;
  // With dropout the kernel's dv is not the right one; this writes it, with the strides of v.
  void write_value_gradient(const KernelCall<T>& call, T* dv) const;

 private:
  const AttentionProblem& problem_;
  const T *log_sum_, *d_out_;
  Tensor delta_;   // [Nq, H]: d_out . out
  Tensor slopes_;  // [Nq, H, 2w + 1]: d_out . table, or undefined
};

}  // namespace heed

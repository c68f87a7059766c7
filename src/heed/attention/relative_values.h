// Relative values (Shaw et al. 2018), which the kernel knows nothing of: a table of vectors that are added to the
// values by distance, after the softmax and its dropout.
//   o_i = sum_j a'_ij (v_j + table[clip(j - i)])
//
// Forward: the sum of a row's weights at each distance, [Nq, H, 2w + 1], times the table; the weights are computed
// again from log_sum, in tiles of rows. Backward: the kernel runs as ever, and a last rule adds to the gradient of its
// weights.
#pragma once

#include "heed/attention/problem.h"

namespace heed {

// Adds the table's part to `out` [Nq, H, E]. Returns the weights by distance, for the backward pass.
template <class T>
Tensor add_relative_values(const KernelCall<T>& call, const T* log_sum, T* out);

// To be the last of the rules in kernels::attention_backward.
template <class T>
class RelativeValuesRule : public kernels::ScoreRule<T> {
 public:
  // log_sum and d_out as attention_backward gets them.
  RelativeValuesRule(const KernelCall<T>& call, const T* log_sum, const T* d_out);
  void apply(const kernels::ScoreTile<T>&) const override {}
  void backward(const kernels::ScoreTile<T>& before, const kernels::ScoreTile<T>& after,
                const kernels::ScoreTile<T>& d_scores) override;

  // Of the table, from what add_relative_values() returned.
  Tensor table_gradient(const Tensor& by_distance) const;

 private:
  const KernelCall<T>& call_;
  const T *log_sum_, *d_out_;
  Tensor slopes_;  // [Nq, H, 2w + 1]: d_out . table
};

}  // namespace heed

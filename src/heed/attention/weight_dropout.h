// Dropout of attention weights, after the softmax: a'_ij = a_ij keep_ij / (1 - p).
#pragma once

#include <cstdint>

#include "heed/attention/attend.h"
#include "heed/kernels/score_rule.h"

namespace heed {

// What is kept is a function of (key, sequence, head, query position, key position) alone, so that the backward pass
// asks for it again instead of keeping it. Refers to the layout.
template <class T>
class DropoutFactors : public kernels::WeightFactors<T> {
 public:
  DropoutFactors(const AttentionDropout& dropout, const AttentionLayout& layout) : dropout_(dropout), layout_(layout) {}
  // tile.scores = keep / (1 - p)
  void fill(const kernels::ScoreTile<T>& tile) const override;

 private:
  AttentionDropout dropout_;
  const AttentionLayout& layout_;
};

}  // namespace heed

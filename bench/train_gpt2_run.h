// One step of training a GPT-2-shaped language model from ids to updated weights: 6 layers, 384 wide, 6 heads, GPT-2's
// vocabulary; cross-entropy of the next token, backward and AdamW over all weights.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/models/model.h"
#include "heed/train/optimizer.h"

namespace heed::bench {

class TrainGpt2Run {
 public:
  TrainGpt2Run(std::int64_t sequences, std::int64_t tokens, int threads);
  void run();
  // Products of the layers and of the logits; backward costs twice what forward does.
  double flops() const;

 private:
  int threads_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  Packed ids_;            // [N]
  Tensor rows_, wanted_;  // the tokens that are followed by one, and those that follow
  std::uint64_t step_ = 0;
};

}  // namespace heed::bench

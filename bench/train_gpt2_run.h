// One step of training a GPT-2-shaped language model from ids to updated weights: cross-entropy of the next token,
// backward and AdamW over all weights.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/models/model.h"
#include "heed/train/optimizer.h"

namespace heed::bench {

struct TrainGpt2Shape {
  std::int64_t sequences = 4, tokens = 256, width = 384, layers = 6, heads = 6, vocabulary = 50257, positions = 1024;
};

class TrainGpt2Run {
 public:
  TrainGpt2Run(const TrainGpt2Shape& shape, int threads);
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

// One step of training an encoder's layers (6 layers, 384 wide, 12 heads, 1536): forward, mean squared
// error against random targets, backward and AdamW over all weights, as the peers' workers measure it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/nn/stack.h"
#include "heed/train/optimizer.h"

namespace heed::bench {

struct TrainCase {
  std::vector<std::int64_t> lengths;  // of the sequences of the batch
  int threads = 1;
  double dropout = 0;  // of attention weights, and of what attention and feed-forward add

  double flops() const;
};

// 16 sequences of 128 tokens.
TrainCase train_even(int threads);
// 16 sequences of mixed lengths, 24.6 tokens on average: the quantiles 1/32, 3/32 ... of a log-normal distribution with
// mean 25 and deviation 0.6 of the logarithm, which is how sentences of SST-2 look.
TrainCase train_mixed(int threads);

class TrainRun {
 public:
  explicit TrainRun(TrainCase train);
  void run();

 private:
  TrainCase case_;
  Stack encoder_;
  std::unique_ptr<Optimizer> optimizer_;
  Packed x_;  // [N, C]
  Tensor target_;
  std::uint64_t step_ = 0;
};

}  // namespace heed::bench

// Low-rank additions (Hu et al. 2021): a chosen weight W [out, in] is used as W + alpha / rank * B A, and only A [rank,
// in] and B [out, rank] are trained. B starts at zero, so that nothing changes at first.
//
// The sum is formed once a step and takes the weight's place in the module: every layer works as it is. What is saved
// is the merged weight, or A and B as an adapter (models/adapter.h).
#pragma once

#include <string>
#include <vector>

#include "heed/models/adapter_save.h"

namespace heed {

class Lora {
 public:
  // Freezes all but the heads, and those too if not `train_heads`; chooses of the rest what the modules call a Weight,
  // if its name goes through one of the targets: whole parts of it, such as query_key_value, attention.output or
  // layer.0. Throws invalid_argument for a target that no name goes through.
  Lora(std::vector<PlacedParameter> parameters, std::int64_t rank, double alpha,
       const std::vector<std::string>& targets, std::uint64_t seed, bool train_heads = true);

  // "name.lora_a", "name.lora_b": what the optimizer trains.
  std::vector<PlacedParameter> parameters();
  // A and B as they are now.
  std::vector<LowRank> additions() const;
  // Puts the sums in place; with gradients recorded, if they are.
  void merge();
  // Puts the weights themselves back.
  void restore();

 private:
  struct Addition {
    PlacedParameter place;
    Tensor weight, a, b;
  };
  double scale_;
  std::vector<Addition> additions_;
};

}  // namespace heed

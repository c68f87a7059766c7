// Low-rank additions (Hu et al. 2021): a chosen weight W [out, in] is used as W + alpha / rank * B A, and only A [rank,
// in] and B [out, rank] are trained. B starts at zero, so that nothing changes at first.
//
// The sum is formed once a step and takes the weight's place in the module: every layer works as it is, and what is
// saved is the merged weight.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/module.h"

namespace heed {

class Lora {
 public:
  // Freezes the whole encoder, which is what has names in "encoder."; chooses of it weights of two axes whose name
  // contains one of the targets, of which there must be one. All heads stay trainable.
  Lora(std::vector<NamedParameter> parameters, std::int64_t rank, double alpha, const std::vector<std::string>& targets,
       std::uint64_t seed);

  // "name.lora_a", "name.lora_b": what the optimizer trains.
  std::vector<NamedParameter> parameters();
  // Puts the sums in place; with gradients recorded, if they are.
  void merge();
  // Puts the weights themselves back.
  void restore();

 private:
  struct Addition {
    std::string name;
    Tensor* place;
    Tensor weight, a, b;
  };
  double scale_;
  std::vector<Addition> additions_;
};

}  // namespace heed

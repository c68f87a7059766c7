// A whole encoder's forward pass on sequences of given lengths, ids to hidden states, as the peers' workers measure it
// (they start after the embeddings): "bert" (12 layers, 768 wide, 12 heads, 3072) or "minilm" (6, 384, 12, 1536).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/models/load.h"

namespace heed::bench {

struct EncoderCase {
  std::string model;
  std::vector<std::int64_t> lengths;  // in tokens, per sequence
  int threads = 1;

  // Products of the layers.
  double flops() const;
};

class EncoderRun {
 public:
  explicit EncoderRun(EncoderCase encoder);  // random weights, kept between runs of one model
  void run() const;

 private:
  EncoderCase case_;
  std::shared_ptr<const Model> model_;
  Inputs input_;
};

}  // namespace heed::bench

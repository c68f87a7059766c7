// A decoder of GPT-2 small's shape with random weights: prompts, then greedy tokens, by the loop that users reach.
#pragma once

#include <memory>
#include <string>

#include "heed/models/model.h"

namespace heed::bench {

struct Gpt2Case {
  DType storage = DType::f32;  // of the files: f32, f16 or bf16
  std::int64_t batch = 1, prompt = 32, new_tokens = 128;
  int threads = 1;
};

class Gpt2Run {
 public:
  explicit Gpt2Run(Gpt2Case decoder);

  struct Result {
    double seconds = 0;         // prompts and tokens
    double decode_seconds = 0;  // from the first new token of a sequence to its last
  };
  Result run() const;

  double load_seconds() const;
  // Read for each step, if nothing stays in a cache.
  double weight_bytes() const;
  // Multiplications and additions of the prompts, without the logits of their last tokens.
  double prompt_flops() const;

 private:
  struct Loaded;
  Gpt2Case case_;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace heed::bench

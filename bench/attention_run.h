// Attention alone, 12 heads of 64: one sequence, forward, or forward and backward, as the peers' workers measure it;
// and one step of decoding over cached keys.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/cache.h"
#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed::bench {

struct AttentionCase {
  std::int64_t n = 0;
  int threads = 1;
  bool backward = false;
  bool causal = false;
  bool summary = false;  // entropy and the 8 largest weights of every row

  // Products of the plain formula: 2 forward, 4 backward. What is computed again does not count, what a causal mask
  // hides does not either.
  double flops() const;
};

class AttentionRun {
 public:
  explicit AttentionRun(const AttentionCase& attention);  // random q, k, v
  void run();

 private:
  AttentionCase case_;
  std::vector<float> q_, k_, v_, out_, d_out_, log_sum_, dq_, dk_, dv_, entropy_, weights_;
  std::vector<std::int64_t> offsets_, visible_end_, keys_;
};

// One new token of each of `batch` sequences that have n cached ones.
struct DecodeCase {
  std::int64_t n = 0, batch = 1;
  std::int64_t key_heads = 0;  // of 12 query heads
  int threads = 1;

  double bytes() const;  // keys and values, which must be read once
};

class DecodeRun {
 public:
  explicit DecodeRun(const DecodeCase& decode);  // random q, k, v
  // Appends the tokens, attends, and forgets them again.
  void run();

 private:
  DecodeCase case_;
  KeyValueCache cache_;
  Offsets step_;
  Tensor q_, k_;
};

}  // namespace heed::bench

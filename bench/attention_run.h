// Attention alone, 12 heads of 64, one sequence: forward, or forward and backward, as the peers' workers measure it.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace heed::bench

// Rotary positions: pairs of features of a head turn by an angle that grows with the token's position, so that q . k
// depends on the distance of the two alone (Su et al. 2021, https://arxiv.org/abs/2104.09864).
//
// Pair i of width/2 turns by position * base^(-2i / width). Features from `width` on are left as they are.
#pragma once

#include <cstdint>
#include <span>

#include "heed/attention/rope_scaling.h"
#include "heed/tensor/tensor.h"

namespace heed {

enum class RotaryLayout {
  half,         // pairs (i, i + width/2): GPT-NeoX, LLaMA
  interleaved,  // pairs (2i, 2i + 1): GPT-J, the paper
};

struct RotaryOptions {
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half;
  std::int64_t width = 0;  // features that turn, even; 0: the whole head
  RopeScaling scaling{};
};

// How far the pairs of each token turn: [N, width/2] both. Constants: no gradient flows into them.
struct RotaryTable {
  Tensor cosines, sines;
};

// positions [N] (i32 or i64, any value). Angles are computed in f64, then rounded to `dtype`. One table serves all
// layers, queries and keys. `lengths` [N], of each token's sequence, are for a scaling that depends on them.
RotaryTable rotary_table(const Tensor& positions, std::int64_t head_width, const RotaryOptions& options, DType dtype,
                         std::span<const std::int64_t> lengths = {});

// x [N, H, D], every head of token n turned by row n of the table. For given caches of all positions pick the rows with
// take_rows(cache, positions).
Tensor rotary(const Tensor& x, const RotaryTable& table, RotaryLayout layout);

// Both steps.
Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options = {});

}  // namespace heed

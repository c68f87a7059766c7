// Scores that are made of the others: each function takes the input of attend() and returns it with the score changed.
#pragma once

#include "heed/attention/attend.h"
#include "heed/ops/weight.h"

namespace heed {

// Bilinear (multiplicative, Luong's "general") scores, q^T W k: the queries go through W, the scale is 1.
//   q [Nq, H, D], k [Nk, G, K], weight [D, K] shared by the heads, or [H, D, K].
AttentionInput with_bilinear_score(AttentionInput input, const Tensor& weight);

// Transformer-XL (Dai et al. 2019, https://arxiv.org/abs/1901.02860), its four terms times the scale:
//   (q_i + u) . k_j + (q_i + v) . r_{i-j},   r_d = W_r R_d,   R_d the sinusoidal code of distance d = query - key
// Keys of earlier segments come before those of this one: the queries are the last of the keys.
struct TransformerXlPositions {
  Tensor table;          // r_d [2 reach + 1, H, D], see below; what is further away than the reach counts as that far
  Tensor content_bias;   // u [H, D]
  Tensor position_bias;  // v [H, D]
};
AttentionInput with_transformer_xl_positions(AttentionInput input, const TransformerXlPositions& positions);

// R_d for key - query = -reach .. reach, [2 reach + 1, width], width even: row r is the code of d = reach - r, first
// all sines, then all cosines of d / 10000^(2i / width), as published.
Tensor distance_codes(std::int64_t reach, std::int64_t width, DType dtype);
// r_d of these codes [rows, C], with W_r [H D, C]: [rows, H, D].
Tensor distance_table(const Tensor& codes, const Weight& projection, std::int64_t heads);

}  // namespace heed

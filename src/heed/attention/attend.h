// attend(): softmax(score(q, k) + terms, mask) v for packed sequences, in tiles, with gradients, in memory linear in
// the number of tokens.
//
// Legend: B sequences, Nq queries and Nk keys in all, H query heads, G key heads (H a multiple of G: grouped, G = 1:
// multi-query), D width of a head's queries and keys, E width of its values.
#pragma once

#include <optional>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/attention/terms.h"
#include "heed/base/types.h"
#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

class KeyValueCache;  // attention/cache.h

// Additive (Bahdanau) scores, w . tanh(q_i + k_j), w [H, D] or [D]: q and k come projected (W_q q, W_k k).
struct AdditiveScore {
  Tensor weight;
};

// Weights set to 0 in training, the others divided by 1 - probability. Which ones is a function of (key, sequence
// number, head, positions of query and key) alone: a sequence's do not depend on how long its neighbours are.
struct AttentionDropout {
  double probability = 0;
  DropoutKey key{};
};

// Streaming summaries of every row; filled by attend() when asked for, the output keeps its bits.
struct AttentionSummary {
  std::int64_t top_k = 8;       // at most 16
  Tensor entropy{}, maximum{};  // [Nq, H]; entropy in nats
  Tensor link_keys{};           // i64 [Nq, H, top_k]: keys of the largest weights, descending; -1: fewer keys
  Tensor link_weights{};        // [Nq, H, top_k]
  Tensor log_sum{};             // [Nq, H]: log sum_j exp(score_j), from which attention_rows() makes weights
};

struct AttentionInput {
  Tensor q{};  // [Nq, H, D]
  Tensor k{};  // [Nk, G, D]
  Tensor v{};  // [Nk, G, E]
  Offsets queries{};
  Offsets keys{};  // self-attention: the same as queries
  // Keys and values instead of k and v, read in place; `keys` are its offsets. No gradients. An additive score, which
  // needs k as a tensor, copies the keys.
  const KeyValueCache* cache = nullptr;
  // Position of each sequence's first query among its keys. Default: the queries are the last of the keys.
  std::vector<std::int64_t> query_start{};
  std::optional<double> scale{};  // default 1 / sqrt(D), D the width of a head; 1 with an additive score
  Mask mask{};
  std::vector<Term> terms{};  // in order
  std::optional<AdditiveScore> additive{};
  // Shaw's relative values: o_i += sum_j a_ij table[clip(distance, -w, w) + w], distance = key - query position.
  // [2w + 1, E] shared by the heads, or [2w + 1, H, E]. Undefined: none.
  Tensor relative_values{};
  std::optional<AttentionDropout> dropout{};  // summaries and attention_rows() show the weights before it
};

// [Nq, H, E]. A query that sees no key gives zeros, and gets and sends no gradient.
Tensor attend(const AttentionInput& input, AttentionSummary* summary = nullptr);

// The input with q, k and v as views of fused projections qkv [N, (H + 2 G) D]: q, then k, then v.
AttentionInput with_fused(AttentionInput input, const Tensor& qkv, std::int64_t heads, std::int64_t key_heads);

// Self-attention on fused projections, read in place, and one gradient for all of them. input.q, k and v are left
// empty.
Tensor attend_fused(const Tensor& qkv, std::int64_t heads, std::int64_t key_heads, AttentionInput input,
                    AttentionSummary* summary = nullptr);

// Rows of the attention matrix in full, [queries, keys of the sequence], for one sequence and head. `log_sum` is that
// of a summary of the same input.
Tensor attention_rows(const AttentionInput& input, const Tensor& log_sum, std::int64_t sequence, std::int64_t head,
                      std::int64_t query_begin, std::int64_t query_end);
// The same where no summary was made: attends once more.
Tensor attention_rows(const AttentionInput& input, std::int64_t sequence, std::int64_t head, std::int64_t query_begin,
                      std::int64_t query_end);

}  // namespace heed

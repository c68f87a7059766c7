// Exact attention in tiles, forward and backward, that never holds an n x n matrix: for every query row
//   s_j = rules(score(q, k_j))   p = softmax(s) over the keys it may see   o = sum_j f_j p_j v_j,  f_j = 1 or a factor
// with the online softmax of blocks of keys. Memory beyond inputs and outputs is one tile per thread.
//
// Law 1: keys are taken in blocks of kKeyBlock counted from the first key of the sequence, in ascending order; a block
// that a row may not see changes nothing in it. So the bits of a row depend on its query and the keys it sees alone:
// not on its neighbours, on threads, on which rows share a tile, on a probe, or on keys that are masked after it (a
// cached step equals the full pass). A row that sees no key gives zeros, and zero gradients.
//
// Layout: token t, head h, feature d of q at q[t * q_stride + h * width + d]; likewise k, v, and out. Sequence b has
// the queries query_offsets[b] .. query_offsets[b+1] and the keys key_offsets[b] .. key_offsets[b+1]. Query head h
// reads key head h / (query_heads / key_heads).
#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/score_rule.h"

namespace heed::kernels {

inline constexpr std::int64_t kKeyBlock = 192;

// The keys and values of one block, in the layout of key_value_page.h.
template <class T>
struct KeyValuePage {
  const T* data = nullptr;
  std::int64_t capacity = 0;  // tokens it has room for
};

template <class T>
struct AttentionInputs {
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  std::int64_t q_stride = 0, k_stride = 0, v_stride = 0;
  std::int64_t query_heads = 1, key_heads = 1;
  std::int64_t width = 0, value_width = 0;                   // of a head: D of q and k, D_v of v
  std::span<const std::int64_t> query_offsets, key_offsets;  // [B+1]
  // Keys and values read in place from pages instead of from k and v: [B], for each sequence one page per key block, of
  // which only the last may have less room than kKeyBlock, and one that no query sees needs no data. Not for the
  // backward pass. Empty: k and v.
  std::span<const std::span<const KeyValuePage<T>>> pages;
  double scale = 1;
  // Query token t (counted over the batch) sees the keys visible_begin[t] <= j < visible_end[t] of its sequence, j
  // counted from the sequence's first key; null: all. Causal, windows, prefixes, lengths and segments are all
  // intervals.
  const std::int64_t* visible_begin = nullptr;
  const std::int64_t* visible_end = nullptr;
  ScoreFunction<T>* function = nullptr;       // null: scale * q . k
  std::span<ScoreRule<T>* const> rules;       // applied in order
  const WeightFactors<T>* factors = nullptr;  // null: all 1; summaries and attention_rows() show p without them
};

// Streaming summaries of the attention rows, one entry per (query token, head), [N, H]; null: not wanted.
template <class T>
struct AttentionSummary {
  T* entropy = nullptr;               // of p, in nats
  T* maximum = nullptr;               // largest p
  std::int64_t top_k = 0;             // at most 16
  std::int64_t* link_keys = nullptr;  // [N, H, top_k]: keys of the largest p, descending, the first of equals; -1: none
  T* link_weights = nullptr;          // [N, H, top_k]
};

// out [N, query_heads * value_width] with out_stride; log_sum [N, query_heads] receives log sum_j exp(s_j) of each row
// (-inf for a row without keys), which the backward pass needs; null: not kept.
template <class T>
void attention(const AttentionInputs<T>& in, T* out, std::int64_t out_stride, T* log_sum,
               const AttentionSummary<T>& summary = {});

// Full rows, to look at: weights [queries, keys of the sequence] of one sequence and head, for the
// queries query_begin .. query_begin + queries. The same numbers that the forward pass used, up to the last rounding.
template <class T>
void attention_rows(const AttentionInputs<T>& in, const T* log_sum, std::int64_t sequence, std::int64_t head,
                    std::int64_t query_begin, std::int64_t queries, T* weights);

// Gradients are written (not added) with the strides of q, k, v; out, d_out [N, query_heads * value_width] with
// out_stride. With a ScoreFunction dq and dk are null: it keeps its own.
template <class T>
struct AttentionGradients {
  T* dq = nullptr;
  T* dk = nullptr;
  T* dv = nullptr;
};
template <class T>
void attention_backward(const AttentionInputs<T>& in, const T* out, const T* d_out, std::int64_t out_stride,
                        const T* log_sum, const AttentionGradients<T>& gradients);

}  // namespace heed::kernels

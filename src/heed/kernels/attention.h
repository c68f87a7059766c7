// Exact attention in tiles, forward and backward, that never holds an n x n matrix: for every query row
//   s_j = rules(score(q, k_j))   p = softmax(s) over the keys it may see   o = sum_j f_j p_j v_j,  f_j = 1 or a factor
// with the online softmax of blocks of keys. Memory beyond inputs and outputs is one tile a thread.
//
// Law 1: keys are taken in blocks of kKeyBlock counted from the first key of the sequence, in ascending order; a block
// that a row may not see changes nothing in it. So the bits of a row depend on its query and the keys it sees alone:
// not on its neighbours, on threads, on which rows share a tile, on a probe, or on keys that are masked behind it (a
// cached step equals the full pass). A row that sees no key gives zeros, and zero gradients.
//
// Layout: token t, head h, feature d of q at q[t * q_stride + h * width + d]; likewise k, v, and out. Sequence b has
// the queries query_offsets[b] .. query_offsets[b+1] and the keys key_offsets[b] .. key_offsets[b+1]. Query head h
// reads key head h / (query_heads / key_heads).
#pragma once

#include <cstdint>
#include <span>

namespace heed::kernels {

inline constexpr std::int64_t kKeyBlock = 192;

// The keys and values of one block, in the layout of key_value_page.h.
template <class T>
struct KeyValuePage {
  const T* data = nullptr;
  std::int64_t capacity = 0;  // tokens it has room for
};

// A tile of scores: rows are queries, columns keys; both counted from the start of their sequence. `scores` [queries,
// keys] has leading dimension ld; columns from `keys` to the end of the row of the tile are scratch.
template <class T>
struct ScoreTile {
  std::int64_t sequence, head;
  std::int64_t query_begin, queries;
  std::int64_t key_begin, keys;
  T* scores;
  std::int64_t ld;
};

// How raw scores come about, where it is not scale * q . k. Called from several threads, each with its own tile.
template <class T>
class ScoreFunction {
 public:
  virtual ~ScoreFunction() = default;
  // Fills tile.scores.
  virtual void scores(const ScoreTile<T>& tile) const = 0;
  // d_scores has the tile's place and holds d loss / d score; adds to the gradients of the function's own inputs.
  // Tiles of one (sequence, key head) come from one thread, queries ascending inside keys ascending.
  virtual void backward(const ScoreTile<T>& d_scores) = 0;
};

// What happens to scores before the softmax: biases, soft-cap, masks that are not intervals (-inf), user functions.
template <class T>
class ScoreRule {
 public:
  virtual ~ScoreRule() = default;
  virtual void apply(const ScoreTile<T>& tile) const = 0;
  // `before` are the scores that apply() was given, `after` what it made of them. Turns d_scores from d loss / d after
  // into d loss / d before, and adds to the gradients of the rule's own parameters.
  virtual void backward(const ScoreTile<T>& before, const ScoreTile<T>& after, const ScoreTile<T>& d_scores) = 0;
  // A rule with parameters that sequences share wants its backward() calls of one head in order of sequences, from one
  // thread at a time.
  virtual bool has_shared_parameters() const { return false; }
};

// What weights are multiplied by behind the softmax, as dropout does it. Called from several threads.
template <class T>
class WeightFactors {
 public:
  virtual ~WeightFactors() = default;
  // Fills tile.scores with the factors of that place: the same ones in every pass.
  virtual void fill(const ScoreTile<T>& tile) const = 0;
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
  // which only the last may have less room than kKeyBlock. Not for the backward pass. Empty: k and v.
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

// Streaming summaries of the attention rows, one entry a (query token, head), [N, H]; null: not wanted.
template <class T>
struct AttentionSummary {
  T* entropy = nullptr;               // of p, in nats
  T* maximum = nullptr;               // largest p
  std::int64_t links = 0;             // k of the top-k, at most 16
  std::int64_t* link_keys = nullptr;  // [N, H, links]: keys of the largest p, descending, the first of equals; -1: none
  T* link_weights = nullptr;          // [N, H, links]
};

// out [N, query_heads * value_width] with out_stride; log_sum [N, query_heads] receives log sum_j exp(s_j) of each row
// (-inf for a row without keys), which the backward pass needs; null: not kept.
template <class T>
void attention(const AttentionInputs<T>& in, T* out, std::int64_t out_stride, T* log_sum,
               const AttentionSummary<T>& summary = {});

// Full rows for those who want to look: weights [queries, keys of the sequence] of one sequence and head, for the
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

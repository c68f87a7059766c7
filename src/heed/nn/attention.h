// Multi-head attention with its projections.
//   self:  q, k, v = x W_q, x W_k, x W_v (one fused product, or three)   y = attend(q, k, v) W_o
//   cross: q from x, k and v from `memory`
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "heed/attention/attend.h"
#include "heed/attention/cache.h"
#include "heed/attention/relative_terms.h"
#include "heed/attention/rotary.h"
#include "heed/attention/scores.h"
#include "heed/nn/layers.h"

namespace heed {

struct AttentionConfig {
  std::int64_t heads = 1;
  std::int64_t key_heads = 0;    // 0: as many as heads; 1: multi-query; between: grouped
  std::int64_t head_dim = 0;     // 0: hidden size / heads
  std::int64_t memory_size = 0;  // hidden size of the tokens that cross-attention reads; 0: its own
  bool fused = true;             // one projection for q, k and v; for self-attention, with one answer for their biases
  bool query_bias = true, key_bias = true, value_bias = true, output_bias = true;
  std::optional<NormConfig> query_key_norm{};  // of each head's queries and keys, before they turn (Qwen3)
  std::optional<RotaryOptions> rotary{};       // queries and keys turn by their positions, wholly or in part
  std::optional<double> scale{};               // of the scores; default 1 / sqrt(head_dim)
  double dropout = 0;                          // of the weights, in training
  // Transformer-XL's relative positions; what is further away than position_reach counts as that far. 0: nothing is.
  bool transformer_xl = false;
  std::int64_t position_reach = 0;
  // States of zeros before the first token of every sequence, less those that AttentionCall::before has: the memory of
  // Transformer-XL, which is seen while it is still empty. Self-attention only.
  std::int64_t empty_memory = 0;
  // Trained vectors of distances (key - query) in [-reach, reach], added to keys as the query sees them (Shaw's
  // relative keys) and, with relative_queries, to queries as the key sees them too. 0: none. Self-attention only.
  std::int64_t relative_reach = 0;
  bool relative_queries = false;
  // T5: a trained bias of each head's scores by the bucket of the distance. 0: none. Self-attention only.
  std::int64_t distance_buckets = 0;
  BucketOptions bucket_options{};

  // The sizes in use, for tokens of this hidden size.
  std::int64_t key_head_count() const { return key_heads > 0 ? key_heads : heads; }
  std::int64_t head_size(std::int64_t hidden_size) const { return head_dim > 0 ? head_dim : hidden_size / heads; }
  // How far Transformer-XL's positions reach among so many keys.
  std::int64_t reach(std::int64_t keys) const { return position_reach > 0 ? std::min(position_reach, keys) : keys; }
};

// A memory's keys and values.
struct KeysValues {
  Tensor keys, values;  // [N, G, D]
};

// Everything about a call that is not a weight.
struct AttentionCall {
  Mask mask{};
  std::vector<Term> terms{};
  std::optional<double> scale{};  // of the scores, instead of the configuration's
  // With rotary positions: how far the tokens turn, [N, ...]. Undefined: by their places in their sequences, after what
  // the cache holds. A stack makes one table for all its layers.
  RotaryTable rotary{};
  KeyValueCache* cache = nullptr;  // self-attention step by step: new keys are appended; no gradients
  // Segment recurrence: what stood in the place of x for the tokens before it, [M, C]; x sees them too. Without a
  // cache.
  Packed before{};
  Tensor empty_state{};  // [1, C], what the states of an empty memory are; undefined: zeros
  // Transformer-XL's positions: distance_codes(), or what position_table() made of them. Undefined: as far as the keys
  // reach.
  Tensor codes{}, position_table{};
};

// The table for new tokens of sequences that have tokens in the cache already, and will have at least lengths_to_come.
RotaryTable rotary_table(const RotaryOptions& options, std::int64_t head_dim, const Offsets& offsets,
                         const KeyValueCache* cache, DType dtype, std::span<const std::int64_t> lengths_to_come = {});

class MultiHeadAttention : public Module {
 public:
  MultiHeadAttention(std::int64_t hidden_size, const AttentionConfig& config);

  // x [N, C] to [N, C], + residual.
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  // Queries from x, keys and values from memory.
  Tensor forward(const Packed& x, const Packed& memory, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  // The same bits, with the projections of memory done before and kept in a cache.
  KeysValues project(const Packed& memory) const;
  Tensor forward(const Packed& x, const KeyValueCache& memory, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  // Transformer-XL: the vectors [rows, H, D] of distances that have these codes [rows, C].
  Tensor position_table(const Tensor& codes) const;
  // The biases of the scores that depend on positions become those of `other`, one parameter for both.
  void tie_position_biases(const MultiHeadAttention& other);
  void visit(Visitor& visitor) const override;

 private:
  // Queries from x, for cross-attention.
  AttentionInput queries_of(const Packed& x, const AttentionCall& call) const;
  // attend() with the configuration's positions and dropout, and the output projection.
  Tensor attended(AttentionInput input, const AttentionCall& call, const Context& context,
                  const Tensor& residual) const;
  // The tokens that keys are made of, of which x are the last, and the rows among them of each sequence's keys.
  struct KeyTokens {
    Tensor values, rows;
    Offsets offsets;
  };
  KeyTokens key_tokens(const Packed& x, const AttentionCall& call) const;
  // q, k and v [tokens, heads D] of x and of what is before it.
  void project_tokens(AttentionInput& input, const Packed& x, const AttentionCall& call) const;
  // The relative terms of a call, for q [N, H, D] and k [N, G, D].
  void add_relative_terms(std::vector<Term>& terms, const Tensor& q, const Tensor& k) const;
  std::optional<AttentionDropout> weight_dropout(const Context& context) const;
  Tensor project_out(const Tensor& attended, const Context& context, const Tensor& residual) const;
  Tensor split_heads(const Tensor& x, std::int64_t heads) const;

  // The heads' norms and turns. x [N, heads, D].
  Tensor normalized(const Tensor& x, const std::optional<Norm>& norm) const { return norm ? norm->forward(x) : x; }
  Tensor turned(const Tensor& x, const RotaryTable& table) const {
    return config_.rotary ? rotary(x, table, config_.rotary->layout) : x;
  }

  std::int64_t hidden_size_;
  AttentionConfig config_;  // with all sizes set
  std::optional<Linear> query_key_value_, query_, key_, value_;
  std::optional<Linear> position_;       // Transformer-XL: W_r,
  Tensor content_bias_, position_bias_;  // u and v [H, D]
  Tensor distance_;                      // [2 reach + 1, D]
  Tensor distance_bias_;                 // [buckets, H]
  std::optional<Norm> query_norm_, key_norm_;
  Linear output_;
};

}  // namespace heed

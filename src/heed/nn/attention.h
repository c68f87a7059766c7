// Multi-head attention with its projections.
//   self:  q, k, v = x W_q, x W_k, x W_v (one fused product, or three)   y = attend(q, k, v) W_o
//   cross: q from x, k and v from `memory`
#pragma once

#include <functional>
#include <optional>

#include "heed/attention/attend.h"
#include "heed/attention/cache.h"
#include "heed/attention/scores.h"
#include "heed/nn/layers.h"

namespace heed {

struct AttentionConfig {
  std::int64_t width = 0;  // of the tokens
  std::int64_t heads = 1;
  std::int64_t key_heads = 0;     // 0: as many as heads; 1: multi-query; between: grouped
  std::int64_t head_width = 0;    // 0: width / heads
  std::int64_t memory_width = 0;  // of the tokens that cross-attention reads; 0: width
  bool fused = true;              // one projection for q, k, v (self-attention only)
  bool bias = true;
  double attention_dropout = 0;  // of the weights, in training
  // Transformer-XL's relative positions. For segment recurrence the memory of a call is joined(earlier, x) and its mask
  // causal: the queries are the last of the keys. Needs fused = false then.
  bool transformer_xl = false;
  // Trained vectors of distances (key - query) in [-reach, reach], added to keys as the query sees them (Shaw's
  // relative keys) and, with relative_queries, to queries as the key sees them too. 0: none. Self-attention only.
  std::int64_t relative_reach = 0;
  bool relative_queries = false;
};

// A memory's keys and values, projected once for all steps of decoding.
struct KeysValues {
  Tensor keys, values;  // [N, G, D]
  Offsets offsets;
};

// Everything about a call that is not a weight.
struct AttentionCall {
  Mask mask{};
  std::vector<Term> terms{};
  // Called with (q [N, H, D]) and (k [N, G, D]): rotary positions.
  std::function<Tensor(const Tensor&)> rotate_queries{}, rotate_keys{};
  KeyValueCache* cache = nullptr;  // self-attention step by step: new keys are appended; no gradients
};

class MultiHeadAttention : public Module {
 public:
  explicit MultiHeadAttention(const AttentionConfig& config);

  // x [N, C] to [N, C], + residual. Taps "output" and, for a probe, "entropy", "maximum", "link_keys", "link_weights";
  // for one that wants "weights", also "weights.<sequence>" [H, queries, keys].
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  // Queries from x, keys and values from memory.
  Tensor forward(const Packed& x, const Packed& memory, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  // The same bits, with the projections of memory done before.
  KeysValues project(const Packed& memory) const;
  Tensor forward(const Packed& x, const KeysValues& memory, const AttentionCall& call, const Context& context,
                 const Tensor& residual = Tensor()) const;
  void visit(Visitor& visitor) override;

 private:
  // attend() with the configuration's positions and dropout, and the output projection.
  Tensor attended(AttentionInput input, const Context& context, const Tensor& residual) const;
  // The relative terms of a call, for q [N, H, D] and k [N, G, D].
  void add_relative_terms(std::vector<Term>& terms, const Tensor& q, const Tensor& k) const;
  std::optional<AttentionDropout> weight_dropout(const Context& context) const;
  Tensor project_out(const Tensor& attended, const Context& context, const Tensor& residual) const;
  Tensor split_heads(const Tensor& x, std::int64_t heads) const;

  AttentionConfig config_;
  std::optional<Linear> query_key_value_, query_, key_, value_;
  std::optional<Linear> position_;       // Transformer-XL: W_r,
  Tensor content_bias_, position_bias_;  // u and v [H, D]
  Tensor distance_;                      // [2 reach + 1, D]
  Linear output_;
};

}  // namespace heed

// What a forward pass can show of itself (law 4): which tensor, and where it was made.
#pragma once

#include <cstdint>

#include "heed/tensor/tensor.h"

namespace heed {

// Legend: N tokens, C hidden size, H heads, K links (top_k).
struct Tap {
  enum class Kind {
    embeddings,        // [N, C], what enters the first layer
    hidden,            // [N, C], what a layer hands on
    attention_output,  // [N, C], after the output projection
    entropy,           // [N, H], of each row of attention, in nats
    maximum,           // [N, H], the largest weight of each row
    link_keys,         // i64 [N, H, K], the keys of the largest weights, -1: none
    link_weights,      // [N, H, K], descending
    weights,           // [queries, keys] of one sequence and head; made only for a probe that wants it
    logits,            // what the head makes of it all
  };
  // Which of a model's attentions: that of its only stack or its encoder, that of a decoder beside an encoder, or the
  // one between them.
  enum class Part { encoder, decoder, cross };

  Kind kind;
  Part part = Part::encoder;
  std::int64_t layer = -1;                // counted in the order of the pass; -1: outside the layers
  std::int64_t sequence = -1, head = -1;  // of weights
};

// Sees intermediates of a forward pass. Costs nothing when absent.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void on_tensor(const Tap& tap, const Tensor& value) = 0;
  // Asked before a tensor is made that a forward pass would not make for itself and that is large: attention in full.
  virtual bool wants(const Tap& /*tap*/) const { return false; }
};

}  // namespace heed

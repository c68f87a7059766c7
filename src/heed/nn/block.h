// The block of a Transformer: attention, optionally cross-attention, and feed-forward, each with residual and norm.
//   pre:       y = x + f(norm(x))
//   post:      y = norm(x + f(x))             as published in 2017, and BERT
//   sandwich:  y = x + norm'(f(norm(x)))      Gemma 2
//   parallel:  y = x + attention(norm(x)) + feed_forward(norm'(x))      GPT-NeoX
#pragma once

#include <optional>

#include "heed/nn/attention.h"
#include "heed/nn/feed_forward.h"

namespace heed {

enum class NormPlace { pre, post, sandwich };

struct BlockConfig {
  std::int64_t hidden_size = 0;
  AttentionConfig attention{};
  FeedForwardConfig feed_forward{};
  NormConfig norm{};
  NormPlace norm_place = NormPlace::pre;
  bool parallel = false;  // attention and feed-forward read the same input; pre-norm only, without cross-attention
  bool cross = false;     // a decoder's block: attends to a memory too
  double dropout = 0;     // of what attention and feed-forward add to the residual

  // Multiplications and additions of a forward pass over these sequences, each attending to itself, and to a memory of
  // its own length if the block has cross-attention.
  double operations(const Offsets& offsets) const;
};

// What a block's cross-attention reads: tokens, or the keys and values that its project() made of them.
struct Memory {
  Packed tokens{};
  AttentionCall call{};
  const KeyValueCache* cache = nullptr;
};

class Block : public Module {
 public:
  explicit Block(const BlockConfig& config);
  // [N, C] to [N, C]. `memory` is needed exactly if the block has cross-attention.
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context,
                 const Memory* memory = nullptr) const;
  KeysValues project(const Packed& memory) const;
  // As MultiHeadAttention has them, of its self-attention.
  Tensor position_table(const Tensor& codes) const { return attention_.position_table(codes); }
  void tie_position_biases(const Block& other) { attention_.tie_position_biases(other.attention_); }
  void visit(Visitor& visitor) const override;

 private:
  // One part with its norms.
  struct Norms {
    explicit Norms(const BlockConfig& config);
    Norm norm;
    std::optional<Norm> after;  // sandwich
  };
  // The residual around f(input, residual), which adds the residual itself.
  template <class Part>
  Tensor residual_step(const Tensor& x, const Norms& norms, const Context& context, const Part& part) const;
  AttentionCall with_norm(AttentionCall call, DType dtype) const;
  Tensor cross_attend(const Packed& x, const Memory& memory, const Context& context) const;

  BlockConfig config_;
  MultiHeadAttention attention_;
  Norms attention_norms_;
  std::optional<MultiHeadAttention> cross_attention_;
  std::optional<Norms> cross_norms_;
  FeedForward feed_forward_;
  Norms feed_forward_norms_;
  Dropout dropout_;
};

}  // namespace heed

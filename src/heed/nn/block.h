// The block of a Transformer: attention, optionally cross-attention, feed-forward, each with residual and norm.
//   pre-norm:  y = x + f(norm(x))        post-norm (as published in 2017, and BERT):  y = norm(x + f(x))
#pragma once

#include <memory>
#include <optional>

#include "heed/nn/attention.h"
#include "heed/nn/layers.h"

namespace heed {

struct BlockConfig {
  std::int64_t width = 0, heads = 1, key_heads = 0, inner = 0;  // inner 0: 4 * width
  bool pre_norm = true;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;
  Activation activation = Activation::gelu;
  bool gated = false;  // down(activation(gate(x)) * up(x)) instead of down(activation(up(x)))
  bool bias = true;
  double dropout = 0;            // of what attention and feed-forward add to the residual
  bool cross = false;            // a decoder's block: attends to a memory too
  double attention_dropout = 0;  // of the attention weights
  // Vectors of distances (nn/attention.h), of the self-attention.
  std::int64_t relative_reach = 0;
  bool relative_queries = false;
};

// Feed-forward with a gate: down(activation(gate(x)) * up(x)).
class GatedFeedForward : public Module {
 public:
  GatedFeedForward(std::int64_t width, std::int64_t inner, Activation activation, bool bias);
  Tensor forward(const Tensor& x, const Tensor& residual = Tensor()) const;
  void visit(Visitor& visitor) override;

 private:
  Linear gate_, up_, down_;
  Activation activation_;
};

// What a block's cross-attention reads.
struct Memory {
  Packed tokens;
  AttentionCall call{};
  std::vector<KeysValues> projected{};  // one a layer, from project(): the tokens are not read again. Empty: they are.
};

class Block : public Module {
 public:
  explicit Block(const BlockConfig& config);
  // [N, C] to [N, C]. `memory` is needed exactly if the block has cross-attention; the block is its layer number
  // `layer`.
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context, const Memory* memory = nullptr,
                 std::size_t layer = 0) const;
  KeysValues project(const Packed& memory) const;
  void visit(Visitor& visitor) override;

 private:
  // x + dropout(f(norm(x))), or norm(x + dropout(f(x))). f(input, residual) adds the residual itself.
  template <class Part>
  Tensor residual_step(const Tensor& x, const Norm& norm, const Context& context, const Part& part) const;

  BlockConfig config_;
  MultiHeadAttention attention_;
  Norm attention_norm_;
  std::optional<MultiHeadAttention> cross_attention_;
  std::optional<Norm> cross_norm_;
  std::optional<FeedForward> feed_forward_;
  std::optional<GatedFeedForward> gated_feed_forward_;
  Norm feed_forward_norm_;
  Dropout dropout_;
};

}  // namespace heed

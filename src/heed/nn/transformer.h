// Stacks of blocks: encoder, decoder, and both together.
#pragma once

#include <deque>

#include "heed/nn/block.h"

namespace heed {

struct StackConfig {
  BlockConfig block{};
  std::int64_t layers = 1;
  bool shared_layers = false;  // one block, applied `layers` times (as ALBERT)
};

// Blocks in a row; a pre-norm stack ends with a norm of its own. With block.cross it is a decoder's stack and reads a
// memory. Whether it is causal is the caller's mask.
class Stack : public Module {
 public:
  explicit Stack(const StackConfig& config);
  // [N, C] to [N, C]. `caches`, one a layer, for decoding step by step; empty: none.
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context, const Memory* memory = nullptr,
                 std::span<KeyValueCache> caches = {}) const;
  void visit(Visitor& visitor) override;
  std::vector<KeyValueCache> make_caches(DType dtype = DType::f32) const;
  // The memory with keys and values of all layers computed, for decoding step by step.
  Memory project(Memory memory) const;

 private:
  const Block& layer(std::int64_t i) const { return blocks_[config_.shared_layers ? 0 : static_cast<std::size_t>(i)]; }

  StackConfig config_;
  std::deque<Block> blocks_;  // blocks are not copied
  std::optional<Norm> final_norm_;
};

// Every token sees all tokens of its sequence (or what the call's mask leaves).
class Encoder : public Module {
 public:
  explicit Encoder(const StackConfig& config) : stack(config) {}
  Tensor forward(const Packed& x, const AttentionCall& call, const Context& context) const {
    return stack.forward(x, call, context);
  }
  void visit(Visitor& visitor) override { visitor.child("layers", stack); }
  Stack stack;
};

// Every token sees itself and those before it; with block.cross also the memory.
class Decoder : public Module {
 public:
  explicit Decoder(const StackConfig& config) : stack(config) {}
  Tensor forward(const Packed& x, const Context& context, const Memory* memory = nullptr,
                 std::span<KeyValueCache> caches = {}) const {
    return stack.forward(x, {.mask = Mask::causal()}, context, memory, caches);
  }
  void visit(Visitor& visitor) override { visitor.child("layers", stack); }
  Stack stack;
};

struct EncoderDecoderConfig {
  std::int64_t source_vocabulary = 0, target_vocabulary = 0;
  StackConfig encoder{}, decoder{};  // decoder.block.cross is set for you
  bool share_embeddings = false;     // source and target use one table (equal vocabularies)
  bool tie_output = true;            // logits = hidden . target table^T
  bool share_layers = false;         // the decoder uses the encoder's self-attention, feed-forward and norms
};

// The Transformer of 2017: sinusoidal positions, embeddings scaled by sqrt(width), logits over the target vocabulary.
class EncoderDecoder : public Module {
 public:
  explicit EncoderDecoder(const EncoderDecoderConfig& config);

  // ids [N] of packed sentences to encoded tokens.
  Packed encode(const Packed& source, const Context& context) const;
  // Logits [N, target vocabulary]; row t predicts the token behind target token t. With caches `target` are only the
  // new tokens, and `start` is how many came before.
  Tensor decode(const Packed& target, const Packed& memory, const Context& context,
                std::span<KeyValueCache> caches = {}, std::int64_t start = 0) const;
  // The same bits with a memory that was projected once, by project().
  Tensor decode(const Packed& target, const Memory& memory, const Context& context,
                std::span<KeyValueCache> caches = {}, std::int64_t start = 0) const;
  Memory project(const Packed& memory) const { return decoder_.stack.project({memory}); }
  std::vector<KeyValueCache> make_caches() const { return decoder_.stack.make_caches(); }
  void visit(Visitor& visitor) override;

 private:
  Tensor embed(const Embedding& table, const Packed& ids, std::int64_t start) const;

  EncoderDecoderConfig config_;
  Embedding source_embedding_, target_embedding_;
  Encoder encoder_;
  Decoder decoder_;
  Linear output_;
};

}  // namespace heed

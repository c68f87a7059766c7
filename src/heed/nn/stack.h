// Blocks in a row: the one stack of encoders and decoders, with cross-attention, shared layers, hidden states,
// recomputation and caches.
#pragma once

#include <deque>
#include <span>

#include "heed/nn/block.h"

namespace heed {

// What the attention of one layer has apart from the others'.
struct LayerVariant {
  std::int64_t window = 0;  // a query sees itself and window - 1 tokens before it; 0: all that the mask allows
  std::optional<RotaryOptions> rotary{};  // instead of the block's; layers that have their own share it
};

struct StackConfig {
  BlockConfig block{};
  std::int64_t layers = 1;
  std::vector<LayerVariant> layer_variants{};  // per layer, or empty: all are alike
  // Layer i applies the blocks_per_group blocks of group i * groups / layers, one after the other (ALBERT). groups = 0:
  // as many as layers, nothing is shared.
  std::int64_t groups = 0, blocks_per_group = 1;

  std::int64_t group_count() const { return groups > 0 ? groups : layers; }
  std::int64_t blocks() const { return group_count() * blocks_per_group; }  // that have weights of their own
  std::int64_t passes() const { return layers * blocks_per_group; }         // through a block, of one forward pass
  // Multiplications and additions of a forward pass over these sequences, each attending to itself.
  double operations(const Offsets& offsets) const { return static_cast<double>(passes()) * block.operations(offsets); }
};

// What a stack keeps between the steps of decoding: the keys and values of the tokens so far. Every sequence has its
// own length; one that joins has none.
class DecodeState {
 public:
  DecodeState() = default;
  DecodeState(const StackConfig& config, DType dtype);

  std::int64_t sequences() const { return caches_.empty() ? 0 : caches_.front().sequences(); }
  // Tokens of the sequence so far: the position of its next one.
  std::int64_t length(std::int64_t sequence) const { return caches_.front().length(sequence); }
  // Positions of the tokens of a step, i64 [N]; that of a sequence's first token is `first`.
  Tensor positions(const Offsets& step, std::int64_t first = 0) const;
  // Sequences that join, with no tokens yet. Without it the first step brings as many as it has.
  void add_sequences(std::int64_t count);
  // Forgets the tokens of a sequence from `length` on.
  void truncate(std::int64_t sequence, std::int64_t length);
  // Sequence i becomes what sequence source[i] was: forks, drops and reorders. Forks share memory until they diverge.
  void reorder(std::span<const std::int64_t> source);

  std::span<KeyValueCache> caches() { return caches_; }  // per pass through a block

 private:
  std::vector<KeyValueCache> caches_;
};

// Everything about a call that is not a weight.
struct StackCall {
  AttentionCall attention{};              // of every block; its cache is the state's
  const Memory* memory = nullptr;         // what cross-attention reads
  DecodeState* state = nullptr;           // x are the tokens of a step; they are added to the state
  std::vector<Tensor>* hidden = nullptr;  // receives x and what each layer makes of it: layers + 1 of [N, C]
};

// A stack that is not post-norm ends with a norm of its own. Whether it is causal is the caller's mask.
class Stack : public Module {
 public:
  explicit Stack(const StackConfig& config);
  Tensor forward(const Packed& x, const StackCall& call, const Context& context) const;  // [N, C] to [N, C]
  DecodeState start(DType dtype = DType::f32) const { return {config_, dtype}; }
  // The memory with keys and values of all layers computed, for decoding step by step.
  Memory project(Memory memory) const;
  const StackConfig& config() const { return config_; }
  // "layer.<block>", "final_norm".
  void visit(Visitor& visitor) const override;

 private:
  const Block& block(std::int64_t pass) const;

  StackConfig config_;
  std::deque<Block> blocks_;  // blocks are not copied
  std::optional<Norm> final_norm_;
};

}  // namespace heed

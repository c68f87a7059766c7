// Blocks in a row: the one stack of encoders and decoders, with cross-attention, shared layers, hidden states,
// recomputation and caches.
#pragma once

#include <deque>
#include <limits>
#include <span>

#include "heed/nn/block.h"
#include "heed/nn/segment_memory.h"

namespace heed {

// What the attention of one layer has apart from the others'.
struct LayerVariant {
  std::int64_t window = 0;  // a query sees itself and window - 1 tokens before it; 0: all that the mask allows
  std::optional<RotaryOptions> rotary{};  // instead of the block's; layers that have their own share it
  std::optional<double> scale{};          // of the scores, instead of the block's
};

struct StackConfig {
  BlockConfig block{};
  std::int64_t layers = 1;
  std::vector<LayerVariant> layer_variants{};  // per layer, or empty: all are alike
  // Layer i applies the blocks_per_group blocks of group i * groups / layers, one after the other (ALBERT). groups = 0:
  // as many as layers, nothing is shared.
  std::int64_t groups = 0, blocks_per_group = 1;
  bool final_norm = true;            // after the last layer, unless the blocks are post-norm
  bool tie_position_biases = false;  // all layers have those of the first

  std::int64_t group_count() const { return groups > 0 ? groups : layers; }
  std::int64_t blocks() const { return group_count() * blocks_per_group; }  // that have weights of their own
  std::int64_t passes() const { return layers * blocks_per_group; }         // through a block, of one forward pass
  // Multiplications and additions of a forward pass (BlockConfig::operations).
  double operations(const Offsets& offsets) const { return static_cast<double>(passes()) * block.operations(offsets); }
};

// What a stack keeps between the steps of decoding: the keys and values of the tokens so far, after those of an empty
// memory if the attention has one, and those of the memory that cross-attention reads, which Stack::join() fills once.
// Every sequence has its own length; one that joins has none.
class DecodeState {
 public:
  DecodeState() = default;
  DecodeState(const StackConfig& config, DType dtype);

  std::int64_t sequences() const { return caches_.empty() ? 0 : caches_.front().sequences(); }
  // Tokens of the sequence so far: the position of its next one.
  std::int64_t length(std::int64_t sequence) const {
    return std::max<std::int64_t>(0, caches_.front().length(sequence) - empty_memory_);
  }
  // Positions of the tokens of a step, i64 [N]; that of a sequence's first token is `first`.
  Tensor positions(const Offsets& step, std::int64_t first = 0) const;
  // Sequences that join, with no tokens yet. Without it the first step brings as many as it has.
  void add_sequences(std::int64_t count);
  // One that joins with the first `length` tokens of a sequence of another state of the same stack, and with what that
  // one's cross-attention reads. It shares their memory.
  void add_fork(const DecodeState& other, std::int64_t sequence, std::int64_t length);
  // Forgets the tokens of a sequence from `length` on.
  void truncate(std::int64_t sequence, std::int64_t length);
  // Whether a sequence has so many tokens and could go on after them; where layers have windows, what is further back
  // is forgotten.
  bool keeps(std::int64_t sequence, std::int64_t length) const;
  // Sequence i becomes what sequence source[i] was: forks, drops and reorders. Forks share memory until they diverge.
  void reorder(std::span<const std::int64_t> source);

  // A sequence whose tokens come in several steps will have at least `length` of them: positions that depend on the
  // length of the sequence (RopeScaling) turn them all by that.
  void expect(std::int64_t sequence, std::int64_t length);
  std::span<const std::int64_t> lengths_to_come() const { return lengths_to_come_; }  // of the first sequences; 0: none
  std::int64_t expected_length(std::int64_t sequence) const {
    return sequence < std::ssize(lengths_to_come_) ? lengths_to_come_[static_cast<std::size_t>(sequence)] : 0;
  }
  // Up to this length of its sequence a token's state depends on the tokens up to it alone; beyond, on that length too.
  std::int64_t fixed_length() const { return fixed_length_; }
  // Memory of keys and values; what sequences share counts once.
  std::int64_t bytes() const;

  std::span<KeyValueCache> caches() { return caches_; }      // per pass through a block
  std::span<KeyValueCache> memories() { return memories_; }  // likewise, if the blocks have cross-attention
  // Tokens that a sequence's cross-attention reads.
  std::int64_t memory_length(std::int64_t sequence) const {
    return memories_.empty() ? 0 : memories_.front().length(sequence);
  }
  // Likewise: Block::position_table() as far as it was needed so far, or undefined.
  std::span<Tensor> position_tables() { return position_tables_; }
  // The ids of a sequence's tokens, for models that have to compute them again; empty unless they are appended.
  std::span<const std::int64_t> ids(std::int64_t sequence) const;
  void append_ids(const Packed& step);  // [N], i32 or i64

 private:
  std::vector<KeyValueCache> caches_, memories_;
  std::vector<std::int64_t> lengths_to_come_;
  std::int64_t fixed_length_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Tensor> position_tables_;
  std::vector<std::vector<std::int64_t>> ids_;  // of the first sequences; those without any may be missing
  std::int64_t empty_memory_ = 0;
};

// Everything about a call that is not a weight.
struct StackCall {
  AttentionCall attention{};              // of every block; its cache is the state's
  const Memory* memory = nullptr;         // what cross-attention reads, without a state
  DecodeState* state = nullptr;           // x are the tokens of a step; they are added to the state
  const SegmentMemory* before = nullptr;  // x sees it too; without a state
  std::vector<Tensor>* hidden = nullptr;  // receives x and what each layer makes of it: layers + 1 of [N, C]
};

// Whether it is causal is the caller's mask.
class Stack : public Module {
 public:
  explicit Stack(const StackConfig& config);
  Tensor forward(const Packed& x, const StackCall& call, const Context& context) const;  // [N, C] to [N, C]
  Tensor finish(const Tensor& x) const;  // what follows the last layer: the norm, if there is one
  DecodeState start(DType dtype = DType::f32) const { return {config_, dtype}; }
  // Adds a sequence to the state for each of the memory's [M, C], which its cross-attention will read. If it throws the
  // state is what it was.
  void join(const Packed& memory, DecodeState& state, const Context& context) const;
  // Transformer-XL: the codes of all distances among the keys of these sequences (AttentionCall::codes).
  Tensor position_codes(const Offsets& offsets, DType dtype) const;
  const StackConfig& config() const { return config_; }
  // "layer.<block>", "final_norm".
  void visit(Visitor& visitor) const override;

 private:
  const Block& block(std::int64_t pass) const;
  void check(const Packed& x, const StackCall& call) const;
  // Gives the state tables that reach over all keys of this step.
  void extend_position_tables(DecodeState& state, const Offsets& step, DType dtype) const;

  StackConfig config_;
  std::deque<Block> blocks_;  // blocks are not copied
  std::optional<Norm> final_norm_;
};

}  // namespace heed

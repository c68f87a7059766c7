// The one probe that gathers attention: its summaries layer by layer, and whole matrices if asked for.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "heed/nn/tap.h"

namespace heed {

// What one layer's heads looked at. N tokens, H heads, K links (top_k).
struct LayerAttention {
  Tensor entropy{}, maximum{};         // [N, H]; entropy in nats
  Tensor link_keys{}, link_weights{};  // [N, H, K]
};

class AttentionRecord : public Probe {
 public:
  // Called for each sequence and head with its whole matrix [queries, keys]: row i is where query i looks. The tensor
  // is the callee's to keep or to drop; one is alive at a time if it is dropped.
  using UseWeights = std::function<void(const Tap& tap, const Tensor& weights)>;

  // `memory`: how many keys of each sequence come before its own tokens, as a model that Recurs has them. They are left
  // out: keys count from the first token, a link to what comes before it is none, and rows of a matrix sum to what is
  // left. Entropy and maximum are those of all keys.
  explicit AttentionRecord(UseWeights use = {}, Tap::Part part = Tap::Part::encoder, std::int64_t memory = 0)
      : use_(std::move(use)), part_(part), memory_(memory) {}

  const std::vector<LayerAttention>& layers() const { return layers_; }

  bool wants(const Tap& tap) const override { return use_ && tap.kind == Tap::Kind::weights && tap.part == part_; }
  void on_tensor(const Tap& tap, const Tensor& value) override {
    if (tap.part != part_) return;
    switch (tap.kind) {
      case Tap::Kind::weights: use_(tap, own_keys(value)); break;
      case Tap::Kind::entropy: layer(tap).entropy = value.detach(); break;
      case Tap::Kind::maximum: layer(tap).maximum = value.detach(); break;
      case Tap::Kind::link_keys: layer(tap).link_keys = own_links(value); break;
      case Tap::Kind::link_weights: layer(tap).link_weights = value.detach(); break;
      default: break;  // not of attention
    }
  }

 private:
  LayerAttention& layer(const Tap& tap) {
    const auto number = static_cast<std::size_t>(tap.layer);
    if (number >= layers_.size()) layers_.resize(number + 1);
    return layers_[number];
  }

  Tensor own_keys(const Tensor& weights) const {
    return memory_ > 0 ? weights.detached_slice(1, memory_, weights.size(1)).detached_contiguous() : weights;
  }
  Tensor own_links(const Tensor& keys) const {
    if (memory_ == 0) return keys.detach();
    Tensor own = keys.detached_clone();
    auto* key = own.mutable_data<std::int64_t>();
    for (std::int64_t i = 0; i < own.count(); ++i) key[i] = std::max<std::int64_t>(key[i] - memory_, -1);
    return own;
  }

  UseWeights use_;
  Tap::Part part_;
  std::int64_t memory_;
  std::vector<LayerAttention> layers_;
};

}  // namespace heed

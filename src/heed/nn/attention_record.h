// The one probe that gathers attention: its summaries layer by layer, and whole matrices if asked for.
#pragma once

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

  explicit AttentionRecord(UseWeights use = {}, Tap::Part part = Tap::Part::encoder)
      : use_(std::move(use)), part_(part) {}

  const std::vector<LayerAttention>& layers() const { return layers_; }

  bool wants(const Tap& tap) const override { return use_ && tap.kind == Tap::Kind::weights && tap.part == part_; }
  void on_tensor(const Tap& tap, const Tensor& value) override {
    if (tap.part != part_) return;
    switch (tap.kind) {
      case Tap::Kind::weights: use_(tap, value); break;
      case Tap::Kind::entropy: layer(tap).entropy = value.detach(); break;
      case Tap::Kind::maximum: layer(tap).maximum = value.detach(); break;
      case Tap::Kind::link_keys: layer(tap).link_keys = value.detach(); break;
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

  UseWeights use_;
  Tap::Part part_;
  std::vector<LayerAttention> layers_;
};

}  // namespace heed

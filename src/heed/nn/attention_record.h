// The one probe that gathers attention: its summaries layer by layer, and whole matrices for whoever asks.
#pragma once

#include <functional>
#include <vector>

#include "heed/nn/tap.h"

namespace heed {

// What one layer's heads looked at. N tokens, H heads, K links.
struct LayerAttention {
  Tensor entropy{}, maximum{};          // [N, H]; entropy in nats
  Tensor link_keys{}, link_weights{};   // [N, H, K]
};

class AttentionRecord : public Probe {
 public:
  // Called for each sequence and head with its whole matrix [queries, keys]: row i is where query i looks. The tensor is
  // the callee's to keep or to drop; one is alive at a time if it is dropped.
  using UseWeights = std::function<void(const Tap& tap, const Tensor& weights)>;

  explicit AttentionRecord(UseWeights use = {}, Tap::Part part = Tap::Part::encoder)
      : use_(std::move(use)), part_(part) {}

  const std::vector<LayerAttention>& layers() const { return layers_; }

  bool wants(const Tap& tap) const override {
    return use_ && tap.kind == Tap::Kind::weights && tap.part == part_;
  }
  void on_tensor(const Tap& tap, const Tensor& value) override {
    if (tap.part != part_ || tap.layer < 0) return;
    if (tap.kind == Tap::Kind::weights) return use_(tap, value);
    const auto layer = static_cast<std::size_t>(tap.layer);
    if (layer >= layers_.size()) layers_.resize(layer + 1);
    if (tap.kind == Tap::Kind::entropy) layers_[layer].entropy = value.detach();
    if (tap.kind == Tap::Kind::maximum) layers_[layer].maximum = value.detach();
    if (tap.kind == Tap::Kind::link_keys) layers_[layer].link_keys = value.detach();
    if (tap.kind == Tap::Kind::link_weights) layers_[layer].link_weights = value.detach();
  }

 private:
  UseWeights use_;
  Tap::Part part_;
  std::vector<LayerAttention> layers_;
};

}  // namespace heed

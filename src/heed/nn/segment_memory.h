// What a stack remembers of earlier segments.
#pragma once

#include <span>
#include <vector>

#include "heed/tensor/packed.h"

namespace heed {

// Of Transformer-XL: what entered each layer for the last tokens of every sequence. No gradients flow into it.
class SegmentMemory {
 public:
  explicit SegmentMemory(std::int64_t most) : most_(most) {}
  // Per layer; empty before the first segment.
  std::span<const Packed> layers() const { return layers_; }
  // Adds a segment: `hidden` is what StackCall::hidden received for it. The last tokens of each sequence stay.
  void append(std::span<const Tensor> hidden, const Offsets& segment);

 private:
  std::int64_t most_;
  std::vector<Packed> layers_;
};

}  // namespace heed

#include "heed/nn/segment_memory.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/ops/gather.h"
#include "heed/ops/shape_ops.h"

namespace heed {

void SegmentMemory::append(std::span<const Tensor> hidden, const Offsets& segment) {
  HEED_CHECK(!hidden.empty() && (layers_.empty() || layers_.size() == hidden.size() - 1) &&
                 (layers_.empty() || layers_[0].offsets.sequences() == segment.sequences()),
             "[SegmentMemory] ", hidden.size(), " states of ", segment.sequences(), " sequences after ", layers_.size(),
             " layers");
  const bool first = layers_.empty();
  layers_.resize(hidden.size() - 1);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const Packed& old = layers_[layer];
    const Offsets kept =
        first ? Offsets(std::vector<std::int64_t>(static_cast<std::size_t>(segment.sequences()), 0)) : old.offsets;
    std::vector<std::int64_t> rows, lengths;
    for (std::int64_t b = 0; b < segment.sequences(); ++b) {
      const std::int64_t before = kept.length(b), all = before + segment.length(b);
      for (std::int64_t i = std::max<std::int64_t>(0, all - most_); i < all; ++i) {
        rows.push_back(i < before ? kept.begin(b) + i : kept.tokens() + segment.begin(b) + i - before);
      }
      lengths.push_back(std::min(all, most_));
    }
    std::vector<Tensor> parts;
    if (!first) parts.push_back(old.values);
    parts.push_back(hidden[layer].detach());
    layers_[layer] = Packed(take_rows(concat(parts, 0), Tensor::from(rows, {std::ssize(rows)})), Offsets(lengths));
  }
}

}  // namespace heed

// Packed sequences (law 2): a batch is its sequences end to end, [tokens, ...], and the offsets where each begins.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "heed/base/memory.h"
#include "heed/tensor/tensor.h"

namespace heed {

// 0 = offsets[0] <= offsets[1] <= ... <= offsets[B] = N. Immutable and cheap to copy. An empty sequence is legal.
class Offsets {
 public:
  Offsets() : Offsets(std::span<const std::int64_t>()) {}
  // From the length of each sequence.
  explicit Offsets(std::span<const std::int64_t> lengths);
  Offsets(std::initializer_list<std::int64_t> lengths) : Offsets(std::span(lengths.begin(), lengths.size())) {}

  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets_->size()) - 1; }
  std::int64_t tokens() const { return offsets_->back(); }
  std::int64_t begin(std::int64_t sequence) const { return (*offsets_)[static_cast<std::size_t>(sequence)]; }
  std::int64_t end(std::int64_t sequence) const { return (*offsets_)[static_cast<std::size_t>(sequence) + 1]; }
  std::int64_t length(std::int64_t sequence) const { return end(sequence) - begin(sequence); }
  std::int64_t longest() const;
  std::span<const std::int64_t> values() const { return *offsets_; }  // [B+1]
  bool operator==(const Offsets& other) const { return *offsets_ == *other.offsets_; }

 private:
  std::shared_ptr<const PoolVector<std::int64_t>> offsets_;
};

struct Packed {
  Packed() = default;
  // values.size(0) must be offsets.tokens().
  Packed(Tensor values, Offsets offsets);

  Tensor values;  // [N, ...]
  Offsets offsets;

  // A view of one sequence, [length, ...], without history.
  Tensor sequence(std::int64_t i) const;
};

// Sequences of equal trailing shape, copied end to end.
Packed pack(std::span<const Tensor> sequences);
// The door for padded batches: values [B, T, ...] and how many of each row's T are real. Copies; without history.
Packed pack_padded(const Tensor& values, std::span<const std::int64_t> lengths);
// [B, longest, ...], zero where there is no token. Without history.
Tensor pad(const Packed& packed);

}  // namespace heed

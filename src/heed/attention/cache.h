// Keys and values of earlier steps, for decoding token by token.
//
// attend() over the cached keys gives the same bits as the full causal pass: a row's bits depend on the keys it sees
// alone. Sequences are independent; beams are forked and reordered by index.
#pragma once

#include <vector>

#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

class KeyValueCache {
 public:
  // Keys of `key_heads` heads of `width`, values of `value_width`.
  KeyValueCache(std::int64_t key_heads, std::int64_t width, std::int64_t value_width, DType dtype = DType::f32);

  // Appends new keys [N, G, D] and values [N, G, E]; `added` says how many belong to each sequence. The first call
  // fixes the number of sequences.
  void append(const Tensor& keys, const Tensor& values, const Offsets& added);
  // Sequence i becomes a copy of what sequence source[i] was: forks, drops and reorders beams.
  void reorder(std::span<const std::int64_t> source);

  std::int64_t sequences() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t length(std::int64_t sequence) const { return rows_[static_cast<std::size_t>(sequence)].length; }
  // Everything so far, end to end: keys [N, G, D], values [N, G, E] and their offsets.
  Offsets offsets() const;
  Tensor keys() const;
  Tensor values() const;

 private:
  struct Row {
    Tensor keys, values;  // room for more than `length` tokens
    std::int64_t length = 0;
  };
  void reserve(Row& row, std::int64_t tokens) const;
  Tensor gathered(Tensor Row::*part, std::int64_t width) const;

  std::int64_t key_heads_, width_, value_width_;
  DType dtype_;
  std::vector<Row> rows_;
};

}  // namespace heed

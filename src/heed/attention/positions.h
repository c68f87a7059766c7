// Attention sees a set of tokens, not a row of them: what tells the first from the last is added to its input. Codes
// computed from the position alone; a trained table is an Embedding over position_ids().
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

enum class PositionKind {
  // Waves of growing length (Vaswani et al. 2017): PE[p, 2i] = sin(p / 10000^(2i / width)), PE[p, 2i+1] = the cosine.
  // Bounded, and for even widths two codes at distance k are equally far apart everywhere. The last column of an odd
  // width is a sine without its cosine, so that this holds only nearly.
  sinusoidal,
  // p + 1 in every column. Simple, and wrong: codes outgrow the words they are added to, and beyond the lengths seen in
  // training they are numbers the model never met.
  integer,
  // p / (length - 1) in every column, from 0 to 1. Bounded, and wrong: the step from a word to the next depends on how
  // long the text is, so that "two words further" is another number in every text.
  fraction,
};

// "sinusoidal", "integer", "fraction", and back; another name is an error.
std::string_view to_string(PositionKind kind);
PositionKind parse_position_kind(std::string_view name);

// The code of one position of a text of that length, 0 <= position < length, in f64.
std::vector<double> position_code(PositionKind kind, std::int64_t position, std::int64_t length, std::int64_t width);

// All codes of a length, [length, width], rounded to `dtype` (f32 or f64) once.
Tensor position_table(PositionKind kind, std::int64_t length, std::int64_t width, DType dtype = DType::f32);
inline Tensor sinusoidal_positions(std::int64_t length, std::int64_t width, DType dtype = DType::f32) {
  return position_table(PositionKind::sinusoidal, length, width, dtype);
}
inline Tensor integer_positions(std::int64_t length, std::int64_t width, DType dtype = DType::f32) {
  return position_table(PositionKind::integer, length, width, dtype);
}
inline Tensor fraction_positions(std::int64_t length, std::int64_t width, DType dtype = DType::f32) {
  return position_table(PositionKind::fraction, length, width, dtype);
}

// i64 ids [N]: start, start + 1, ... anew for each sequence; rows of a table for packed tokens.
Tensor position_ids(const Offsets& offsets, std::int64_t start = 0);
// The same with a start per sequence: KeyValueCache::lengths() before a step of decoding.
Tensor position_ids(const Offsets& offsets, std::span<const std::int64_t> starts);

}  // namespace heed

// Arithmetic of the loops that split work into parts and blocks.
#pragma once

#include <cstdint>

namespace heed::kernels {

struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

// Part i of `parts` equal parts of [begin, end).
inline Range part_of(Range whole, std::int64_t parts, std::int64_t i) {
  return {whole.begin + whole.size() * i / parts, whole.begin + whole.size() * (i + 1) / parts};
}

inline std::int64_t ceil_div(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

inline std::int64_t round_up(std::int64_t x, std::int64_t multiple) {
  return ceil_div(x, multiple) * multiple;
}

}  // namespace heed::kernels

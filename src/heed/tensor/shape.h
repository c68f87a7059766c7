// The sizes of a tensor's axes: a small value without heap memory.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

#include "heed/base/types.h"

namespace heed {

class Shape {
 public:
  Shape() = default;  // rank 0: a scalar, one element
  Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  // Throws on more than kMaxRank axes, a negative size, or a product beyond int64.
  explicit Shape(std::span<const std::int64_t> sizes);

  int rank() const { return rank_; }
  // Number of elements.
  std::int64_t count() const { return count_; }
  // axis in [-rank, rank); negative counts from the end.
  std::int64_t operator[](int axis) const { return sizes_[static_cast<std::size_t>(normalize_axis(axis))]; }
  // The axis as 0 <= axis < rank; throws if there is no such axis.
  int normalize_axis(int axis) const;
  // The same shape with one axis of another size.
  Shape with(int axis, std::int64_t size) const;
  // Product of the sizes of the axes [begin, end).
  std::int64_t product(int begin, int end) const;

  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + rank_; }
  std::span<const std::int64_t> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }
  bool operator==(const Shape& other) const;

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
  std::int64_t count_ = 1;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  // [2, 3]

// In elements, one per axis; beyond the rank unused.
using Strides = std::array<std::int64_t, kMaxRank>;
// Row-major strides: the last axis is contiguous.
Strides contiguous_strides(const Shape& shape);

// The shape both inputs stretch to (sizes equal, or one of them 1, aligned at the last axis); throws naming `op` and
// both shapes.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

}  // namespace heed

#include "heed/tensor/shape.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

Shape::Shape(std::span<const std::int64_t> sizes) {
  HEED_CHECK(sizes.size() <= kMaxRank, "[Shape] ", sizes.size(), " axes; at most ", kMaxRank, " are supported");
  rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  for (std::int64_t size : sizes) {
    HEED_CHECK(size >= 0, "[Shape] negative size in ", *this);
    HEED_CHECK(!__builtin_mul_overflow(count_, size, &count_), "[Shape] too many elements in ", *this);
  }
}

int Shape::normalize_axis(int axis) const {
  HEED_CHECK(axis >= -rank_ && axis < rank_, "[Shape] axis ", axis, " does not exist in ", *this);
  return axis < 0 ? axis + rank_ : axis;
}

Shape Shape::with(int axis, std::int64_t size) const {
  auto sizes = sizes_;
  sizes[static_cast<std::size_t>(normalize_axis(axis))] = size;
  return Shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(rank_)));
}

std::int64_t Shape::product(int begin, int end) const {
  std::int64_t product = 1;
  for (int axis = begin; axis < end; ++axis) product *= sizes_[static_cast<std::size_t>(axis)];
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(sizes(), other.sizes());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (const std::int64_t* size = shape.begin(); size != shape.end(); ++size) {
    out << (size == shape.begin() ? "" : ", ") << *size;
  }
  return out << ']';
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= std::max<std::int64_t>(1, shape[axis]);
  }
  return strides;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<std::int64_t, kMaxRank> sizes{};
  for (int back = 1; back <= rank; ++back) {
    const std::int64_t sa = back <= a.rank() ? a[-back] : 1;
    const std::int64_t sb = back <= b.rank() ? b[-back] : 1;
    HEED_CHECK(sa == sb || sa == 1 || sb == 1, "[", op, "] shapes ", a, " and ", b, " do not broadcast");
    sizes[static_cast<std::size_t>(rank - back)] = sa == 1 ? sb : sa;
  }
  return Shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(rank)));
}

}  // namespace heed

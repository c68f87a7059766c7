#include "heed/ops/shape_ops.h"

#include <cstring>

#include "heed/base/error.h"
#include "heed/ops/checks.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// Copies the block `part` [outer, n, inner] to position `begin` on the axis of `whole` [outer, total, inner], or back.
enum class Direction { into_whole, out_of_whole };
void copy_block(Direction direction, Tensor& target, const Tensor& source, int axis, std::int64_t begin) {
  const Tensor& whole = direction == Direction::into_whole ? target : source;
  const Tensor& part = direction == Direction::into_whole ? source : target;
  const std::int64_t bytes = element_size(whole.dtype());
  const std::int64_t inner = whole.shape().product(axis + 1, whole.rank()) * bytes;
  const std::int64_t outer = whole.shape().product(0, axis);
  const std::int64_t part_row = part.size(axis) * inner, whole_row = whole.size(axis) * inner;
  std::byte* to = target.storage()->mutable_bytes() + target.offset() * bytes;
  const std::byte* from = source.storage()->bytes() + source.offset() * bytes;
  for (std::int64_t i = 0; i < outer; ++i) {
    const std::int64_t in_whole = i * whole_row + begin * inner, in_part = i * part_row;
    if (direction == Direction::into_whole) {
      std::memcpy(to + in_whole, from + in_part, static_cast<std::size_t>(part_row));
    } else {
      std::memcpy(to + in_part, from + in_whole, static_cast<std::size_t>(part_row));
    }
  }
}

}  // namespace

Tensor reshape(const Tensor& x, std::span<const std::int64_t> sizes) {
  check_defined("reshape", x);
  HEED_CHECK(sizes.size() <= kMaxRank, "[reshape] ", sizes.size(), " axes; at most ", kMaxRank, " are supported");
  std::array<std::int64_t, kMaxRank> known{};
  int inferred = -1;
  std::int64_t product = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    known[i] = sizes[i];
    if (sizes[i] == -1) {
      HEED_CHECK(inferred < 0, "[reshape] of ", x.shape(), ": more than one size is -1");
      inferred = static_cast<int>(i);
    } else {
      HEED_CHECK(sizes[i] >= 0 && !__builtin_mul_overflow(product, sizes[i], &product), "[reshape] of ", x.shape(),
                 ": size ", sizes[i], " at axis ", i);
    }
  }
  if (inferred >= 0) {
    HEED_CHECK(product > 0 && x.count() % product == 0, "[reshape] of ", x.shape(), ": no size fits where -1 stands");
    known[static_cast<std::size_t>(inferred)] = x.count() / product;
  }
  const Shape shape(std::span<const std::int64_t>(known.data(), sizes.size()));
  return record("reshape", x.detached_contiguous().detached_reshape(shape), {x},
                [from = x.shape()](Backward& g) { g.give(0, g.grad().detached_reshape(from)); });
}

Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> sizes) {
  return reshape(x, std::span<const std::int64_t>(sizes.begin(), sizes.size()));
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  check_defined("transpose", x);
  return record("transpose", x.detached_transpose(axis_a, axis_b), {x}, [axis_a, axis_b](Backward& g) {
    g.give(0, g.grad().detached_transpose(axis_a, axis_b).detached_contiguous());
  });
}

Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end) {
  check_defined("slice", x);
  return record("slice", x.detached_slice(axis, begin, end), {x},
                [from = x.shape(), axis = x.shape().normalize_axis(axis), begin](Backward& g) {
                  Tensor whole = Tensor::zeros(from, g.grad().dtype());
                  copy_block(Direction::into_whole, whole, g.grad(), axis, begin);
                  g.give(0, whole);
                });
}

std::vector<Tensor> split(const Tensor& x, int axis, std::span<const std::int64_t> sizes) {
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (std::int64_t size : sizes) {
    HEED_CHECK(size >= 0, "[split] negative size ", size);
    parts.push_back(slice(x, axis, begin, begin + size));
    begin += size;
  }
  HEED_CHECK(begin == x.size(axis), "[split] sizes add up to ", begin, ", axis ", axis, " of ", x.shape(), " is ",
             x.size(axis));
  return parts;
}

Tensor concat(std::span<const Tensor> parts, int axis) {
  HEED_CHECK(!parts.empty(), "[concat] no inputs");
  const Tensor& first = parts.front();
  check_defined("concat", first);
  const int along = first.shape().normalize_axis(axis);
  std::int64_t total = 0;
  PoolVector<std::int64_t> sizes;
  for (const Tensor& part : parts) {
    check_same_dtype("concat", first, part);
    HEED_CHECK(part.rank() == first.rank() && part.shape().with(along, 0) == first.shape().with(along, 0), "[concat] ",
               part.shape(), " does not go with ", first.shape(), " along axis ", axis);
    sizes.push_back(part.size(along));
    total += part.size(along);
  }
  Tensor whole = Tensor::empty(first.shape().with(along, total), first.dtype());
  std::int64_t begin = 0;
  for (const Tensor& part : parts) {
    copy_block(Direction::into_whole, whole, part.detached_contiguous(), along, begin);
    begin += part.size(along);
  }
  return record("concat", whole, parts, [sizes, along](Backward& g) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); start += sizes[i++]) {
      if (!g.wants(i)) continue;
      Tensor part = Tensor::empty(g.grad().shape().with(along, sizes[i]), g.grad().dtype());
      copy_block(Direction::out_of_whole, part, g.grad(), along, start);
      g.give(i, part);
    }
  });
}

Tensor contiguous(const Tensor& x) {
  check_defined("contiguous", x);
  if (x.is_contiguous()) return x;
  return record("contiguous", x.detached_clone(), {x}, [](Backward& g) { g.give(0, g.grad()); });
}

}  // namespace heed

#include "heed/tensor/packed.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

// Bytes of one token of a [N, ...] tensor whose first `batch_axes` axes are not part of the token.
std::int64_t token_bytes(const Tensor& values, int batch_axes) {
  return values.shape().product(batch_axes, values.rank()) * element_size(values.dtype());
}

const std::byte* first_byte(const Tensor& values) {
  return values.storage()->bytes() + values.offset() * element_size(values.dtype());
}

// The shape [sizes..., trailing axes of values from `axis` on].
Shape with_trailing(std::initializer_list<std::int64_t> sizes, const Tensor& values, int axis) {
  std::vector<std::int64_t> all(sizes);
  all.insert(all.end(), values.shape().begin() + axis, values.shape().end());
  return Shape(std::span<const std::int64_t>(all));
}

}  // namespace

Offsets::Offsets(std::span<const std::int64_t> lengths) {
  auto offsets = std::allocate_shared<PoolVector<std::int64_t>>(PoolAllocator<PoolVector<std::int64_t>>());
  offsets->reserve(lengths.size() + 1);
  offsets->push_back(0);
  for (std::int64_t length : lengths) {
    std::int64_t next = 0;
    HEED_CHECK(length >= 0, "[Offsets] negative length ", length);
    HEED_CHECK(!__builtin_add_overflow(offsets->back(), length, &next), "[Offsets] too many tokens");
    offsets->push_back(next);
  }
  offsets_ = std::move(offsets);
}

std::int64_t Offsets::longest() const {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < sequences(); ++i) most = std::max(most, length(i));
  return most;
}

Packed::Packed(Tensor packed_values, Offsets packed_offsets)
    : values(std::move(packed_values)), offsets(std::move(packed_offsets)) {
  HEED_CHECK(values.rank() >= 1 && values.size(0) == offsets.tokens(), "[Packed] values ", values.shape(),
             " do not have the ", offsets.tokens(), " tokens of the offsets");
}

Tensor Packed::sequence(std::int64_t i) const {
  HEED_CHECK(i >= 0 && i < offsets.sequences(), "[Packed] sequence ", i, " of ", offsets.sequences());
  return values.detached_slice(0, offsets.begin(i), offsets.end(i));
}

Packed pack(std::span<const Tensor> sequences) {
  HEED_CHECK(!sequences.empty(), "[pack] no sequences");
  std::vector<std::int64_t> lengths;
  for (const Tensor& sequence : sequences) {
    const Tensor& first = sequences.front();
    HEED_CHECK(sequence.rank() >= 1 && sequence.dtype() == first.dtype() && sequence.rank() == first.rank() &&
                   sequence.shape().with(0, 0) == first.shape().with(0, 0),
               "[pack] sequence ", sequence.dtype(), sequence.shape(), " does not go with ", first.dtype(),
               first.shape());
    lengths.push_back(sequence.size(0));
  }
  Offsets offsets{std::span<const std::int64_t>(lengths)};
  Tensor values = Tensor::empty(with_trailing({offsets.tokens()}, sequences.front(), 1), sequences.front().dtype());
  std::byte* target = values.storage()->mutable_bytes();
  for (const Tensor& sequence : sequences) {
    const Tensor source = sequence.detached_contiguous();
    const auto bytes = static_cast<std::size_t>(source.count() * element_size(source.dtype()));
    std::memcpy(target, first_byte(source), bytes);
    target += bytes;
  }
  return {values, offsets};
}

Packed pack_padded(const Tensor& values, std::span<const std::int64_t> lengths) {
  HEED_CHECK(values.rank() >= 2 && values.size(0) == static_cast<std::int64_t>(lengths.size()), "[pack_padded] values ",
             values.shape(), " with ", lengths.size(), " lengths; expected [B, T, ...] and B lengths");
  for (std::int64_t length : lengths) {
    HEED_CHECK(length >= 0 && length <= values.size(1), "[pack_padded] length ", length, " outside 0..",
               values.size(1));
  }
  Offsets offsets(lengths);
  const Tensor source = values.detached_contiguous();
  Tensor packed = Tensor::empty(with_trailing({offsets.tokens()}, values, 2), values.dtype());
  const std::int64_t token = token_bytes(source, 2);
  for (std::int64_t i = 0; i < offsets.sequences(); ++i) {
    std::memcpy(packed.storage()->mutable_bytes() + offsets.begin(i) * token,
                first_byte(source) + i * source.size(1) * token, static_cast<std::size_t>(offsets.length(i) * token));
  }
  return {packed, offsets};
}

Tensor pad(const Packed& packed) {
  const Offsets& offsets = packed.offsets;
  const Tensor source = packed.values.detached_contiguous();
  Tensor padded = Tensor::zeros(with_trailing({offsets.sequences(), offsets.longest()}, source, 1), source.dtype());
  const std::int64_t token = token_bytes(source, 1);
  for (std::int64_t i = 0; i < offsets.sequences(); ++i) {
    std::memcpy(padded.storage()->mutable_bytes() + i * offsets.longest() * token,
                first_byte(source) + offsets.begin(i) * token, static_cast<std::size_t>(offsets.length(i) * token));
  }
  return padded;
}

}  // namespace heed

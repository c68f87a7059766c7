#include "heed/attention/positions.h"

#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"sinusoidal", "integer", "fraction"};

double element(PositionKind kind, std::int64_t position, std::int64_t length, std::int64_t width, std::int64_t column) {
  const auto p = static_cast<double>(position);
  if (kind == PositionKind::integer) return p + 1;
  if (kind == PositionKind::fraction) return length > 1 ? p / static_cast<double>(length - 1) : 0;
  const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(width);
  const double angle = p / std::pow(10000.0, exponent);
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

void check_sizes(std::int64_t length, std::int64_t width) {
  HEED_CHECK(length >= 0 && width >= 1, "[positions] length ", length, ", width ", width,
             ": expected a length of at least 0 and a width of at least 1");
}

}  // namespace

std::string_view to_string(PositionKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

PositionKind parse_position_kind(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<PositionKind>(i);
  }
  fail(ErrorKind::invalid_argument, "[positions] \"", name, "\" is not one of sinusoidal, integer, fraction");
}

std::vector<double> position_code(PositionKind kind, std::int64_t position, std::int64_t length, std::int64_t width) {
  check_sizes(length, width);
  HEED_CHECK(position >= 0 && position < length, "[positions] position ", position, " of a length of ", length);
  std::vector<double> code;
  for (std::int64_t column = 0; column < width; ++column) {
    code.push_back(element(kind, position, length, width, column));
  }
  return code;
}

Tensor position_table(PositionKind kind, std::int64_t length, std::int64_t width, DType dtype) {
  check_sizes(length, width);
  Tensor table = Tensor::empty({length, width}, dtype);
  visit_float("positions", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = table.mutable_data<T>();
    parallel_for(table.count(), 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        out[i] = static_cast<T>(element(kind, i / width, length, width, i % width));
    });
  });
  return table;
}

Tensor position_ids(const Offsets& offsets, std::int64_t start) {
  const PoolVector<std::int64_t> starts(static_cast<std::size_t>(offsets.sequences()), start);
  return position_ids(offsets, starts);
}

Tensor position_ids(const Offsets& offsets, std::span<const std::int64_t> starts) {
  HEED_CHECK(std::ssize(starts) == offsets.sequences(), "[position_ids] ", starts.size(), " starts for ",
             offsets.sequences(), " sequences");
  Tensor ids = Tensor::empty({offsets.tokens()}, DType::i64);
  auto* id = ids.mutable_data<std::int64_t>();
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const std::int64_t start = starts[static_cast<std::size_t>(b)];
    HEED_CHECK(start >= 0, "[position_ids] start ", start, " of sequence ", b, " is negative");
    for (std::int64_t t = 0; t < offsets.length(b); ++t) *id++ = start + t;
  }
  return ids;
}

}  // namespace heed

#include "heed/attention/cache.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"

namespace heed {
namespace {

// Copies the tokens begin..end of `from` behind the first `at` tokens of `to`.
void copy_tokens(const Tensor& from, std::int64_t begin, std::int64_t end, Tensor& to, std::int64_t at) {
  const Tensor part = from.sliced(0, begin, end).contiguous();
  const std::int64_t token = part.shape().product(1, part.rank()) * element_size(part.dtype());
  std::memcpy(to.storage()->mutable_bytes() + at * token,
              part.storage()->bytes() + part.offset() * element_size(part.dtype()),
              static_cast<std::size_t>((end - begin) * token));
}

}  // namespace

KeyValueCache::KeyValueCache(std::int64_t key_heads, std::int64_t width, std::int64_t value_width, DType dtype)
    : key_heads_(key_heads), width_(width), value_width_(value_width), dtype_(dtype) {}

void KeyValueCache::reserve(Row& row, std::int64_t tokens) const {
  if (row.keys.defined() && row.keys.size(0) >= tokens) return;
  const std::int64_t room = std::max<std::int64_t>(tokens, 2 * row.length);  // doubling: a token costs O(1) on average
  Tensor keys = Tensor::empty({room, key_heads_, width_}, dtype_);
  Tensor values = Tensor::empty({room, key_heads_, value_width_}, dtype_);
  if (row.length > 0) {
    copy_tokens(row.keys, 0, row.length, keys, 0);
    copy_tokens(row.values, 0, row.length, values, 0);
  }
  row.keys = keys;
  row.values = values;
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values, const Offsets& added) {
  if (rows_.empty()) rows_.resize(static_cast<std::size_t>(added.sequences()));
  HEED_CHECK(added.sequences() == sequences(), "[KeyValueCache] ", added.sequences(), " sequences appended to ",
             sequences());
  HEED_CHECK(keys.shape() == Shape({added.tokens(), key_heads_, width_}) &&
                 values.shape() == Shape({added.tokens(), key_heads_, value_width_}) && keys.dtype() == dtype_ &&
                 values.dtype() == dtype_,
             "[KeyValueCache] keys ", keys.dtype(), keys.shape(), " and values ", values.dtype(), values.shape(),
             ", expected ", dtype_, Shape({added.tokens(), key_heads_, width_}), " and ",
             Shape({added.tokens(), key_heads_, value_width_}));
  for (std::int64_t b = 0; b < sequences(); ++b) {
    Row& row = rows_[static_cast<std::size_t>(b)];
    reserve(row, row.length + added.length(b));
    copy_tokens(keys, added.begin(b), added.end(b), row.keys, row.length);
    copy_tokens(values, added.begin(b), added.end(b), row.values, row.length);
    row.length += added.length(b);
  }
}

void KeyValueCache::reorder(std::span<const std::int64_t> source) {
  std::vector<Row> rows;
  std::vector<bool> taken(rows_.size(), false);
  for (std::int64_t from : source) {
    HEED_CHECK(from >= 0 && from < sequences(), "[KeyValueCache] sequence ", from, " of ", sequences());
    Row row = rows_[static_cast<std::size_t>(from)];
    // The first taker keeps the memory, further ones get their own.
    if (taken[static_cast<std::size_t>(from)] && row.keys.defined()) {
      row.keys = row.keys.clone();
      row.values = row.values.clone();
    }
    taken[static_cast<std::size_t>(from)] = true;
    rows.push_back(std::move(row));
  }
  rows_ = std::move(rows);
}

Offsets KeyValueCache::offsets() const {
  std::vector<std::int64_t> lengths;
  for (const Row& row : rows_) lengths.push_back(row.length);
  return Offsets(std::span<const std::int64_t>(lengths));
}

Tensor KeyValueCache::gathered(Tensor Row::*part, std::int64_t width) const {
  // One sequence needs no copy.
  if (rows_.size() == 1 && (rows_[0].*part).defined()) return (rows_[0].*part).sliced(0, 0, rows_[0].length);
  Tensor all = Tensor::empty({offsets().tokens(), key_heads_, width}, dtype_);
  std::int64_t at = 0;
  for (const Row& row : rows_) {
    if (row.length > 0) copy_tokens(row.*part, 0, row.length, all, at);
    at += row.length;
  }
  return all;
}

Tensor KeyValueCache::keys() const {
  return gathered(&Row::keys, width_);
}

Tensor KeyValueCache::values() const {
  return gathered(&Row::values, value_width_);
}

}  // namespace heed

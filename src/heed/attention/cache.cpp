#include "heed/attention/cache.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/key_value_page.h"
#include "heed/kernels/pool_array.h"

namespace heed {
namespace {

using kernels::kKeyBlock;

// Doubling: a token moves about once before its page is full.
std::int64_t room_for(std::int64_t tokens) {
  constexpr std::int64_t kLeast = 16;
  const auto doubled = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(tokens)));
  return std::clamp(doubled, kLeast, kKeyBlock);
}

}  // namespace

struct KeyValueCache::Page {
  Page(std::int64_t tokens, std::int64_t size) : capacity(tokens), bytes(size) {
    std::fill_n(bytes.data(), size, std::byte{0});
  }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  std::int64_t capacity;
  kernels::PoolArray<std::byte> bytes;
};

template <class T>
kernels::PageLayout<T> KeyValueCache::layout(std::int64_t capacity) const {
  return {key_heads_, width_, value_width_, capacity};
}

KeyValueCache::KeyValueCache(std::int64_t key_heads, std::int64_t width, std::int64_t value_width, DType dtype,
                             std::int64_t window)
    : key_heads_(key_heads), width_(width), value_width_(value_width), dtype_(dtype), window_(window) {
  HEED_CHECK(key_heads > 0 && width > 0 && value_width > 0, "[KeyValueCache] ", key_heads, " heads of widths ", width,
             " and ", value_width, ", expected at least 1");
  HEED_CHECK(window >= 0, "[KeyValueCache] a window of ", window, ", expected 0 or more");
}

const KeyValueCache::Row& KeyValueCache::row(std::int64_t sequence) const {
  HEED_CHECK(sequence >= 0 && sequence < sequences(), "[KeyValueCache] sequence ", sequence, " of ", sequences());
  return rows_[static_cast<std::size_t>(sequence)];
}

void KeyValueCache::add_sequences(std::int64_t count) {
  HEED_CHECK(count >= 0, "[KeyValueCache] ", count, " sequences to add");
  rows_.resize(rows_.size() + static_cast<std::size_t>(count));
}

void KeyValueCache::add_fork(const KeyValueCache& other, std::int64_t sequence, std::int64_t length) {
  const bool alike = other.key_heads_ == key_heads_ && other.width_ == width_ && other.value_width_ == value_width_ &&
                     other.dtype_ == dtype_ && other.window_ == window_;
  HEED_CHECK(alike, "[KeyValueCache] a fork of a cache of another shape");
  other.check_keeps(sequence, length);
  Row fork = other.row(sequence);
  shorten(fork, length);
  rows_.push_back(std::move(fork));
}

// The pages before the first key that the next query sees. Called before tokens are added, so that what they add can be
// taken back.
void KeyValueCache::release(Row& row) const {
  if (window_ == 0) return;
  const std::int64_t pages = std::max<std::int64_t>(0, row.length - (window_ - 1)) / kKeyBlock;
  while (row.released < pages) row.pages[static_cast<std::size_t>(row.released++)] = nullptr;
}

bool KeyValueCache::keeps(std::int64_t sequence, std::int64_t length) const {
  const Row& whole = row(sequence);
  if (length < 0 || length > whole.length) return false;
  return length == 0 || whole.released == 0 || length - (window_ - 1) >= first_key(sequence);
}

void KeyValueCache::check_keeps(std::int64_t sequence, std::int64_t length) const {
  HEED_CHECK(length >= 0 && length <= row(sequence).length, "[KeyValueCache] sequence ", sequence, " of ",
             row(sequence).length, " tokens cut to ", length);
  HEED_CHECK(keeps(sequence, length), "[KeyValueCache] sequence ", sequence, " cut to ", length,
             " tokens: its keys before ", first_key(sequence), " are released, with a window of ", window_);
}

void KeyValueCache::shorten(Row& row, std::int64_t length) {
  row.pages.resize(static_cast<std::size_t>(kernels::ceil_div(length, kKeyBlock)));
  row.length = length;
  row.released = std::min(row.released, std::ssize(row.pages));
}

// The last page of a row, which has `used` tokens, made one that is the row's own with room for `tokens`.
template <class T>
KeyValueCache::Page& KeyValueCache::writable_page(Row& row, std::int64_t used, std::int64_t tokens) const {
  if (used > 0 && row.pages.back().use_count() == 1 && row.pages.back()->capacity >= tokens) return *row.pages.back();
  const kernels::PageLayout<T> wanted = layout<T>(room_for(tokens));
  auto page = std::allocate_shared<Page>(PoolAllocator<Page>(), wanted.capacity,
                                         wanted.elements() * static_cast<std::int64_t>(sizeof(T)));
  if (used == 0) {
    row.pages.push_back(std::move(page));
  } else {
    Page& last = *row.pages.back();
    kernels::copy_page<T>(layout<T>(last.capacity), last.data<T>(), used, wanted, page->template data<T>());
    row.pages.back() = std::move(page);
  }
  return *row.pages.back();
}

template <class T>
void KeyValueCache::append_to(Row& row, const T* keys, const T* values, std::int64_t count) const {
  const std::int64_t key_stride = key_heads_ * width_, value_stride = key_heads_ * value_width_;
  release(row);
  while (count > 0) {
    const std::int64_t used = row.length % kKeyBlock, added = std::min(count, kKeyBlock - used);
    Page& page = writable_page<T>(row, used, used + added);
    kernels::write_page<T>(layout<T>(page.capacity), page.data<T>(), used, added, keys, key_stride, values,
                           value_stride);
    row.length += added;
    count -= added;
    keys += added * key_stride;
    values += added * value_stride;
  }
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values, const Offsets& added) {
  HEED_CHECK(rows_.empty() || added.sequences() == sequences(), "[KeyValueCache] ", added.sequences(),
             " sequences appended to ", sequences());
  HEED_CHECK(keys.shape() == Shape({added.tokens(), key_heads_, width_}) &&
                 values.shape() == Shape({added.tokens(), key_heads_, value_width_}) && keys.dtype() == dtype_ &&
                 values.dtype() == dtype_,
             "[KeyValueCache] keys ", keys.dtype(), keys.shape(), " and values ", values.dtype(), values.shape(),
             ", expected ", dtype_, Shape({added.tokens(), key_heads_, width_}), " and ",
             Shape({added.tokens(), key_heads_, value_width_}));
  if (rows_.empty()) add_sequences(added.sequences());
  const Tensor k = keys.detached_contiguous(), v = values.detached_contiguous();
  visit_float("KeyValueCache", dtype_, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t b = 0; b < sequences(); ++b) {
      append_to<T>(rows_[static_cast<std::size_t>(b)], k.data<T>() + added.begin(b) * key_heads_ * width_,
                   v.data<T>() + added.begin(b) * key_heads_ * value_width_, added.length(b));
    }
  });
}

void KeyValueCache::reorder(std::span<const std::int64_t> source) {
  std::vector<Row> rows;
  for (std::int64_t from : source) rows.push_back(row(from));
  rows_ = std::move(rows);
}

void KeyValueCache::truncate(std::int64_t sequence, std::int64_t length) {
  check_keeps(sequence, length);
  shorten(rows_[static_cast<std::size_t>(sequence)], length);
}

std::int64_t KeyValueCache::first_key(std::int64_t sequence) const {
  return row(sequence).released * kKeyBlock;
}

PoolVector<std::int64_t> KeyValueCache::lengths() const {
  PoolVector<std::int64_t> found;
  for (const Row& row : rows_) found.push_back(row.length);
  return found;
}

std::int64_t KeyValueCache::bytes() const {
  std::unordered_set<const Page*> pages;
  std::int64_t sum = 0;
  for (const Row& row : rows_) {
    for (const auto& page : row.pages) sum += page && pages.insert(page.get()).second ? page->bytes.size() : 0;
  }
  return sum;
}

// read(layout, page, tokens, to) copies one page to `to`.
template <class Read>
Tensor KeyValueCache::gathered(std::int64_t width, const Read& read) const {
  Tensor all = Tensor::empty({offsets().tokens(), key_heads_, width}, dtype_);
  visit_float("KeyValueCache", dtype_, [&](auto zero) {
    using T = decltype(zero);
    T* to = all.mutable_data<T>();
    for (const Row& row : rows_) {
      HEED_CHECK(row.released == 0, "[KeyValueCache] the first ", row.released * kKeyBlock, " keys are released");
      std::int64_t left = row.length;
      for (const auto& page : row.pages) {
        const std::int64_t tokens = std::min(left, kKeyBlock);
        read(layout<T>(page->capacity), page->template data<T>(), tokens, to);
        left -= tokens;
        to += tokens * key_heads_ * width;
      }
    }
  });
  return all;
}

Tensor KeyValueCache::keys() const {
  return gathered(width_, [](const auto& layout, auto* page, std::int64_t tokens, auto* to) {
    kernels::read_keys(layout, page, tokens, to);
  });
}

Tensor KeyValueCache::values() const {
  return gathered(value_width_, [](const auto& layout, auto* page, std::int64_t tokens, auto* to) {
    kernels::read_values(layout, page, tokens, to);
  });
}

template <class T>
PoolVector<kernels::KeyValuePage<T>> KeyValueCache::pages(std::int64_t sequence) const {
  HEED_CHECK_AS(internal, dtype_ == kDTypeOf<T>, "[KeyValueCache] pages of ", dtype_, " read as another type");
  PoolVector<kernels::KeyValuePage<T>> found;
  for (const auto& page : row(sequence).pages) {
    found.push_back(page ? kernels::KeyValuePage<T>{page->template data<T>(), page->capacity}
                         : kernels::KeyValuePage<T>{nullptr, kKeyBlock});
  }
  return found;
}
template PoolVector<kernels::KeyValuePage<float>> KeyValueCache::pages<float>(std::int64_t) const;
template PoolVector<kernels::KeyValuePage<double>> KeyValueCache::pages<double>(std::int64_t) const;

}  // namespace heed

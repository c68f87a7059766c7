// Keys and values of earlier steps, for decoding token by token.
//
// The tokens of a sequence lie in pages of kernels::kKeyBlock, which attend() reads in place (AttentionInput::cache),
// with the same bits as the full causal pass: a row's bits depend on the keys it sees alone. Sequences are independent:
// they have lengths of their own, join and leave at any step. Forks share pages; the first token that is appended to a
// shared page copies that page, and full pages are never copied. The last page of a sequence has room for 16 tokens at
// first, and moves to twice the room when it is full.
//
// Where queries see a window of the last keys, pages that no later query sees are released, and places stay what they
// are: memory is bounded by the window, a page, and what one append() brings.
//
// Copies of a cache share pages too. All caches that do belong to one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/base/memory.h"
#include "heed/tensor/packed.h"
#include "heed/tensor/tensor.h"

namespace heed {

namespace kernels {  // kernels/key_value_page.h
template <class T>
struct KeyValuePage;
template <class T>
struct PageLayout;
}  // namespace kernels

class KeyValueCache {
 public:
  // Keys of `key_heads` heads of `width`, values of `value_width`. A query sees itself and window - 1 keys before it;
  // 0: all.
  KeyValueCache(std::int64_t key_heads, std::int64_t width, std::int64_t value_width, DType dtype = DType::f32,
                std::int64_t window = 0);

  // Adds sequences of length 0 after those that are there. O(count).
  void add_sequences(std::int64_t count);
  // Adds one that begins with the first `length` tokens of a sequence of a cache of the same shape; shares its pages.
  // Throws invalid_argument unless other.keeps(sequence, length). O(pages).
  void add_fork(const KeyValueCache& other, std::int64_t sequence, std::int64_t length);
  // Appends new keys [N, G, D] and values [N, G, E]; `added` says how many belong to each sequence, 0 for one that
  // waits. A cache without sequences gets as many as `added` has. O(N), and what copying the last pages costs.
  void append(const Tensor& keys, const Tensor& values, const Offsets& added);
  // Sequence i becomes what sequence source[i] was: forks, drops and reorders sequences. O(pages); copies no keys.
  void reorder(std::span<const std::int64_t> source);
  // Forgets the tokens of a sequence from `length` on. Throws invalid_argument unless keeps(sequence, length).
  // O(pages); copies no keys.
  void truncate(std::int64_t sequence, std::int64_t length);
  // Whether a sequence has so many tokens, and the keys that a query after them sees are still there.
  bool keeps(std::int64_t sequence, std::int64_t length) const;

  std::int64_t key_heads() const { return key_heads_; }
  std::int64_t width() const { return width_; }
  std::int64_t value_width() const { return value_width_; }
  DType dtype() const { return dtype_; }
  std::int64_t window() const { return window_; }
  std::int64_t sequences() const { return static_cast<std::int64_t>(rows_.size()); }
  // Of a sequence: also the position of the next token that is appended to it.
  std::int64_t length(std::int64_t sequence) const { return row(sequence).length; }
  // The keys before it are released.
  std::int64_t first_key(std::int64_t sequence) const;
  PoolVector<std::int64_t> lengths() const;
  // Of all sequences, end to end.
  Offsets offsets() const { return Offsets(lengths()); }
  // Memory of all pages; what sequences share counts once. O(pages).
  std::int64_t bytes() const;

  // Copies of everything, end to end: keys [N, G, D], values [N, G, E]. Throws invalid_argument if any were released.
  Tensor keys() const;
  Tensor values() const;

  // For the kernel: the pages of a sequence, without data where they are released. T is the type of dtype().
  template <class T>
  PoolVector<kernels::KeyValuePage<T>> pages(std::int64_t sequence) const;

 private:
  struct Page;
  struct Row {
    std::vector<std::shared_ptr<Page>> pages;  // one per kKeyBlock tokens; the released are null
    std::int64_t length = 0, released = 0;     // tokens, pages
  };
  const Row& row(std::int64_t sequence) const;
  template <class T>
  kernels::PageLayout<T> layout(std::int64_t capacity) const;
  template <class T>
  void append_to(Row& row, const T* keys, const T* values, std::int64_t count) const;
  void release(Row& row) const;
  void check_keeps(std::int64_t sequence, std::int64_t length) const;
  static void shorten(Row& row, std::int64_t length);
  template <class T>
  Page& writable_page(Row& row, std::int64_t used, std::int64_t tokens) const;
  template <class Read>
  Tensor gathered(std::int64_t width, const Read& read) const;

  std::int64_t key_heads_, width_, value_width_;
  DType dtype_;
  std::int64_t window_;
  std::vector<Row> rows_;
};

}  // namespace heed

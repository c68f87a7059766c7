// Pages of a key/value cache: keys and values of neighbouring tokens of one sequence, laid out as the attention kernel
// multiplies them, so that it reads them in place.
//
// For each key head first its keys in panels, [token / kPanel][width][token % kPanel], then its values in panels,
// [feature / kPanel][capacity][feature % kPanel], with zeros after the last feature; panels are those of gemm.h.
#pragma once

#include <cstdint>

#include "heed/kernels/gemm.h"
#include "heed/kernels/ranges.h"

namespace heed::kernels {

template <class T>
struct PageLayout {
  static constexpr std::int64_t kPanel = PackedMatrix<T>::kPanel;

  std::int64_t heads, width, value_width;
  std::int64_t capacity;  // tokens; a multiple of kPanel

  std::int64_t elements() const { return heads * head_elements(); }
  // Where the keys and values of a head begin.
  std::int64_t keys(std::int64_t head) const { return head * head_elements(); }
  std::int64_t values(std::int64_t head) const { return keys(head) + capacity * width; }
  // Distance of two panels of values.
  std::int64_t value_stride() const { return capacity * kPanel; }

 private:
  std::int64_t head_elements() const { return capacity * (width + round_up(value_width, kPanel)); }
};

// Writes the tokens first .. first + count of a page that began as zeros. Token i of these, head h, feature d comes
// from k[i * k_stride + h * width + d] and v[i * v_stride + h * value_width + d].
template <class T>
void write_page(const PageLayout<T>& layout, T* page, std::int64_t first, std::int64_t count, const T* k,
                std::int64_t k_stride, const T* v, std::int64_t v_stride);

// The first `count` tokens of a page: keys [count, heads, width] or values [count, heads, value_width].
template <class T>
void read_keys(const PageLayout<T>& layout, const T* page, std::int64_t count, T* keys);
template <class T>
void read_values(const PageLayout<T>& layout, const T* page, std::int64_t count, T* values);

// Copies the first `count` tokens to a page of zeros that differs in its capacity at most.
template <class T>
void copy_page(const PageLayout<T>& from_layout, const T* from, std::int64_t count, const PageLayout<T>& to_layout,
               T* to);

}  // namespace heed::kernels

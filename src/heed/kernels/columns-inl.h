// Sums over the rows of a matrix, column by column, in a tree that the number of rows alone fixes. Once per target.
#if defined(HEED_KERNELS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_COLUMNS_INL_H_
#undef HEED_KERNELS_COLUMNS_INL_H_
#else
#define HEED_KERNELS_COLUMNS_INL_H_
#endif

#include <bit>

#include "heed/base/memory.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Leaves of the tree: this many rows are added one after the other.
inline constexpr std::int64_t kTreeLeaf = 64;
// Columns are shared out to threads in units that fill whole cache lines.
inline constexpr std::int64_t kColumnUnit = 64;

// y[c] = sum_r x[r * stride + c] for rows <= kTreeLeaf, c < cols.
template <class T>
HWY_INLINE void sum_leaf(const T* x, std::int64_t rows, std::int64_t stride, T* y, std::int64_t cols) {
  const hn::ScalableTag<T> d;
  const std::int64_t N = lanes(d);
  std::int64_t c = 0;
  for (; c + 4 * N <= cols; c += 4 * N) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* row = x + r * stride + c;
      s0 = hn::Add(s0, hn::LoadU(d, row));
      s1 = hn::Add(s1, hn::LoadU(d, row + N));
      s2 = hn::Add(s2, hn::LoadU(d, row + 2 * N));
      s3 = hn::Add(s3, hn::LoadU(d, row + 3 * N));
    }
    hn::StoreU(s0, d, y + c);
    hn::StoreU(s1, d, y + c + N);
    hn::StoreU(s2, d, y + c + 2 * N);
    hn::StoreU(s3, d, y + c + 3 * N);
  }
  for (; c < cols; c += N) {
    const std::int64_t count = std::min(N, cols - c);
    auto sum = hn::Zero(d);
    for (std::int64_t r = 0; r < rows; ++r) sum = hn::Add(sum, load_some(d, x + r * stride + c, count));
    store_some(sum, d, y + c, count);
  }
}

// The same for any number of rows. The left part of a node has the largest power of two times kTreeLeaf rows that
// leaves something to the right. scratch has cols elements for each level: sum_tree_levels(rows) of them.
template <class T>
void sum_tree(const T* x, std::int64_t rows, std::int64_t stride, T* y, std::int64_t cols, T* scratch) {
  if (rows <= kTreeLeaf) return sum_leaf(x, rows, stride, y, cols);
  const auto leaves = static_cast<std::uint64_t>((rows - 1) / kTreeLeaf);
  const std::int64_t left = static_cast<std::int64_t>(std::bit_floor(leaves)) * kTreeLeaf;
  sum_tree(x, left, stride, y, cols, scratch);
  sum_tree(x + left * stride, rows - left, stride, scratch, cols, scratch + cols);
  map(hn::ScalableTag<T>(), y, scratch, y, cols, [](auto a, auto b) HEED_LAMBDA { return hn::Add(a, b); });
}

inline std::int64_t sum_tree_levels(std::int64_t rows) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(rows, 1) / kTreeLeaf)) + 1;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

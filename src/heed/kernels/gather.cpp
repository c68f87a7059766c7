#include "heed/kernels/gather.h"

#include <algorithm>
#include <type_traits>

#include "heed/base/parallel.h"
#include "heed/kernels/convert.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kColumnUnit = 64;  // columns a thread takes at once: whole cache lines

}  // namespace

template <class From, class Index, class T>
void gather_rows(const From* table, const Index* ids, T* y, std::int64_t n, std::int64_t cols) {
  parallel_for(n, 32768 / (cols + 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const From* row = table + static_cast<std::int64_t>(ids[i]) * cols;
      if constexpr (std::is_same_v<From, T>) {
        std::copy(row, row + cols, y + i * cols);
      } else {
        convert(row, y + i * cols, cols);
      }
    }
  });
}

// Split over columns: two tokens with one id never meet in different threads.
template <class T, class Index>
void scatter_add_rows(const T* dy, const Index* ids, T* dtable, std::int64_t n, std::int64_t cols) {
  const std::int64_t units = (cols + kColumnUnit - 1) / kColumnUnit;
  parallel_for(units, 16384 / (kColumnUnit * (n + 1)), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kColumnUnit, width = std::min(cols, end * kColumnUnit) - first;
    for (std::int64_t i = 0; i < n; ++i) {
      const T* from = dy + i * cols + first;
      T* to = dtable + static_cast<std::int64_t>(ids[i]) * cols + first;
      for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
    }
  });
}

#define HEED_INSTANTIATE(T, Index)                                                   \
  template void gather_rows(const T*, const Index*, T*, std::int64_t, std::int64_t); \
  template void scatter_add_rows(const T*, const Index*, T*, std::int64_t, std::int64_t);
HEED_INSTANTIATE(float, std::int32_t)
HEED_INSTANTIATE(float, std::int64_t)
HEED_INSTANTIATE(double, std::int32_t)
HEED_INSTANTIATE(double, std::int64_t)
#undef HEED_INSTANTIATE

#define HEED_INSTANTIATE(Half)                                                                     \
  template void gather_rows(const Half*, const std::int32_t*, float*, std::int64_t, std::int64_t); \
  template void gather_rows(const Half*, const std::int64_t*, float*, std::int64_t, std::int64_t);
HEED_INSTANTIATE(Float16)
HEED_INSTANTIATE(BFloat16)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/dropout.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/dropout.h"
#include "heed/kernels/philox-inl.h"

#ifndef HEED_DROPOUT_KERNELS
#define HEED_DROPOUT_KERNELS(K, T, suffix) \
  K(void, dropout, T, suffix, (const T* x, T* y, std::int64_t n, double p, DropoutKey key), (x, y, n, p, key))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

template <class T>
void dropout(const T* x, T* y, std::int64_t n, double p, DropoutKey key) {
  const double threshold = std::ceil(p * 4294967296.0);
  if (threshold > 4294967295.0) return std::fill(y, y + n, T{0});
  const auto least = static_cast<std::uint32_t>(threshold);
  const T factor = static_cast<T>(1 / (1 - p));
  // Elements are handled by whole calls of the generator, so that ranges start at a block of it.
  const auto step = static_cast<std::int64_t>(4 * hn::Lanes(hn::ScalableTag<std::uint64_t>()));
  parallel_for((n + step - 1) / step, 8192 / step, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    HWY_ALIGN std::uint32_t words[kPhiloxMaxWords];
    for (std::int64_t group = begin; group < end; ++group) {
      philox_words(static_cast<std::uint64_t>(group * step / 4), key.stream, key.seed, words);
      const std::int64_t first = group * step, count = std::min(step, n - first);
      for (std::int64_t i = 0; i < count; ++i) y[first + i] = words[i] >= least ? x[first + i] * factor : T{0};
    }
  });
}

HEED_TARGET_FUNCTIONS(HEED_DROPOUT_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HEED_PUBLIC_FUNCTIONS(HEED_DROPOUT_KERNELS)
}  // namespace heed::kernels
#endif  // HWY_ONCE

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
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/philox-inl.h"

#ifndef HEED_DROPOUT_KERNELS
#define HEED_DROPOUT_KERNELS(K, T, suffix) \
  K(void, dropout, T, suffix, (const T* x, T* y, std::int64_t n, double p, DropoutKey key), (x, y, n, p, key))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// Elements are handled in groups of a fixed number of generator calls, so that each range starts at a block of it.
inline constexpr std::int64_t kGroup = 4 * kPhiloxMaxWords;

// One 32-bit word a lane, whatever the width of the lanes.
template <class D>
HWY_INLINE hn::Vec<D> load_words(D d, const std::uint32_t* words) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::LoadU(d, words);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint32_t, D>(), words));
  }
}

template <class T>
HWY_INLINE void drop_group(const T* x, T* y, std::int64_t n, std::uint32_t least, T factor, DropoutKey key,
                           std::int64_t first) {
  HWY_ALIGN std::uint32_t words[kGroup];
  const auto step = static_cast<std::int64_t>(4 * hn::Lanes(hn::ScalableTag<std::uint64_t>()));
  for (std::int64_t i = 0; i < n; i += step) {
    philox_words(static_cast<std::uint64_t>(first + i) / 4, key.stream, key.seed, words + i);
  }
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto least_words = hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(least));
  const auto factors = hn::Set(d, factor);
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    const auto dropped = hn::RebindMask(d, hn::Lt(load_words(du, words + i), least_words));
    store_some(hn::IfThenZeroElse(dropped, hn::Mul(load_some(d, x + i, count), factors)), d, y + i, count);
  });
}

template <class T>
void dropout(const T* x, T* y, std::int64_t n, double p, DropoutKey key) {
  const double threshold = std::ceil(p * 4294967296.0);
  if (threshold > 4294967295.0) return std::fill(y, y + n, T{0});
  const auto least = static_cast<std::uint32_t>(threshold);
  const T factor = static_cast<T>(1 / (1 - p));
  parallel_for((n + kGroup - 1) / kGroup, 8192 / kGroup, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t first = begin * kGroup; first < std::min(n, end * kGroup); first += kGroup) {
      drop_group(x + first, y + first, std::min(kGroup, n - first), least, factor, key, first);
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

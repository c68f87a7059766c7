// Partial vectors: the tail of a loop runs the same vector operations as its body, on a vector whose missing lanes
// are zero, so that an element gets the same bits wherever it stands (law 1). Included once per target.
#if defined(HEED_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_LANES_INL_H_
#undef HEED_KERNELS_LANES_INL_H_
#else
#define HEED_KERNELS_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "heed/kernels/lambda.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// AVX2 and AVX-512 have masked loads and stores of 4- and 8-byte lanes that do not touch what is masked out.
template <class T>
inline constexpr bool kMaskedMemory = HWY_ARCH_X86&& HWY_TARGET <= HWY_AVX2 && sizeof(T) >= 4;

// Highway's targets without SIMD: their Max drops NaN, and their MaxOfLanes never returns less than the lowest finite
// value.
inline constexpr bool kEmulated = HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128;

template <class D>
HWY_INLINE std::int64_t lanes(D d) {
  return static_cast<std::int64_t>(hn::Lanes(d));
}

template <class D>
HWY_INLINE hn::TFromD<D> max_of_lanes(D d, hn::Vec<D> v) {
  if constexpr (kEmulated) {
    HWY_ALIGN hn::TFromD<D> values[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
    hn::Store(v, d, values);
    return *std::max_element(values, values + lanes(d));
  } else {
    return hn::GetLane(hn::MaxOfLanes(d, v));
  }
}

// First `count` lanes from p, zeros above; 0 <= count <= Lanes(d).
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_n(D d, const T* p, std::int64_t count) {
  if constexpr (kMaskedMemory<T>) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)] = {};
    std::memcpy(buffer, p, static_cast<std::size_t>(count) * sizeof(T));
    return hn::Load(d, buffer);
  }
}

// First `count` lanes of v to p.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_n(hn::Vec<D> v, D d, T* p, std::int64_t count) {
  if constexpr (kMaskedMemory<T>) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  } else {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(v, d, buffer);
    std::memcpy(p, buffer, static_cast<std::size_t>(count) * sizeof(T));
  }
}

// The same where a full vector, which needs no mask, is the usual case.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, std::int64_t count) {
  return count == lanes(d) ? hn::LoadU(d, p) : load_n(d, p, count);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* p, std::int64_t count) {
  count == lanes(d) ? hn::StoreU(v, d, p) : store_n(v, d, p, count);
}

// Calls f(i, count) for the vectors of [0, n): count lanes from i on.
template <class D, class F>
HWY_INLINE void for_each_vector(D d, std::int64_t n, const F& f) {
  const std::int64_t N = lanes(d);
  std::int64_t i = 0;
  for (; i + N <= n; i += N) f(i, N);
  if (i < n) f(i, n - i);
}

// y[i] = f(x[i]) for i in [0, n), f from vector to vector. y == x is allowed.
template <class D, class T, class F>
HWY_INLINE void map(D d, const T* x, T* y, std::int64_t n, const F& f) {
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    store_some(f(load_some(d, x + i, count)), d, y + i, count);
  });
}

// z[i] = f(x[i], y[i]) for i in [0, n). z may be x or y.
template <class D, class T, class F>
HWY_INLINE void map(D d, const T* x, const T* y, T* z, std::int64_t n, const F& f) {
  for_each_vector(d, n, [&](std::int64_t i, std::int64_t count) HEED_LAMBDA {
    store_some(f(load_some(d, x + i, count), load_some(d, y + i, count)), d, z + i, count);
  });
}

// Sums of f over [0, n) in one order that n and the target fix: f(i, count) gives the terms of a vector that starts
// at i, with zeros above its `count` lanes. Four vectors of partial sums over blocks of kSumBlock terms; the blocks are
// added in double, so that the error stays that of one block whatever n.
inline constexpr std::int64_t kSumBlock = 1024;

template <class D, class F>
HWY_INLINE double sum_block(D d, std::int64_t begin, std::int64_t end, const F& f) {
  const std::int64_t N = lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = begin;
  for (; i + 4 * N <= end; i += 4 * N) {
    s0 = hn::Add(s0, f(i, N));
    s1 = hn::Add(s1, f(i + N, N));
    s2 = hn::Add(s2, f(i + 2 * N, N));
    s3 = hn::Add(s3, f(i + 3 * N, N));
  }
  for (; i < end; i += N) s0 = hn::Add(s0, f(i, std::min(N, end - i)));
  const auto all = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
}

template <class D, class F>
HWY_INLINE double sum_of(D d, std::int64_t n, const F& f) {
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kSumBlock) {
    total += sum_block(d, begin, std::min(n, begin + kSumBlock), f);
  }
  return total;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

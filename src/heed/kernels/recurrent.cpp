#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/recurrent.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h re-includes this file once per instruction set.
#include <hwy/highway.h>

#include "heed/base/parallel.h"
#include "heed/kernels/activation-inl.h"
#include "heed/kernels/dispatch.h"
#include "heed/kernels/lambda.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/kernels/recurrent.h"

#ifndef HEED_RECURRENT_KERNELS
#define HEED_RECURRENT_KERNELS(K, T, suffix)                                                                         \
  K(void, rnn_cell, T, suffix, (const T* x, const T* u, T* h, std::int64_t n), (x, u, h, n))                         \
  K(void, rnn_cell_backward, T, suffix, (const T* h, const T* dh, T* da, std::int64_t n), (h, dh, da, n))            \
  K(void, gru_cell, T, suffix,                                                                                       \
    (T * gates, const T* u, const T* previous, T* kept_u, T* h, std::int64_t rows, std::int64_t C),                  \
    (gates, u, previous, kept_u, h, rows, C))                                                                        \
  K(void, gru_cell_backward, T, suffix,                                                                              \
    (const T* gates, const T* kept_u, const T* previous, const T* dh, T* dx, T* du, T* dprevious, std::int64_t rows, \
     std::int64_t C),                                                                                                \
    (gates, kept_u, previous, dh, dx, du, dprevious, rows, C))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

inline constexpr std::int64_t kCellGrain = 8192;  // elements that are worth another thread

template <class T>
void rnn_cell(const T* x, const T* u, T* h, std::int64_t n) {
  const hn::ScalableTag<T> d;
  parallel_for(n, kCellGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    map(d, x + begin, u + begin, h + begin, end - begin,
        [&](auto vx, auto vu) HEED_LAMBDA { return activate<Activation::tanh>(d, hn::Add(vx, vu)); });
  });
}

template <class T>
void rnn_cell_backward(const T* h, const T* dh, T* da, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  parallel_for(n, kCellGrain, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    map(d, h + begin, dh + begin, da + begin, end - begin,
        [&](auto vh, auto vdh) HEED_LAMBDA { return hn::Mul(vdh, hn::NegMulAdd(vh, vh, one)); });
  });
}

// f(first element of the row in [rows, 3C], in [rows, C], element of the row, lanes) for all vectors of all rows.
template <class D, class F>
HWY_INLINE void for_each_cell(D d, std::int64_t rows, std::int64_t C, const F& f) {
  parallel_for(rows, kCellGrain / (C + 1), [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      for_each_vector(d, C,
                      [&](std::int64_t i, std::int64_t count) HEED_LAMBDA { f(row * 3 * C + i, row * C + i, count); });
    }
  });
}

template <class T>
void gru_cell(T* gates, const T* u, const T* previous, T* kept_u, T* h, std::int64_t rows, std::int64_t C) {
  const hn::ScalableTag<T> d;
  for_each_cell(d, rows, C, [&](std::int64_t wide, std::int64_t narrow, std::int64_t count) HEED_LAMBDA {
    T* gate = gates + wide;
    const T* part = u + wide;
    const auto r = activate<Activation::sigmoid>(d, hn::Add(load_some(d, gate, count), load_some(d, part, count)));
    const auto z =
        activate<Activation::sigmoid>(d, hn::Add(load_some(d, gate + C, count), load_some(d, part + C, count)));
    const auto un = load_some(d, part + 2 * C, count);
    const auto n = activate<Activation::tanh>(d, hn::MulAdd(r, un, load_some(d, gate + 2 * C, count)));
    store_some(r, d, gate, count);
    store_some(z, d, gate + C, count);
    store_some(n, d, gate + 2 * C, count);
    if (kept_u) store_some(un, d, kept_u + narrow, count);
    store_some(hn::MulAdd(z, hn::Sub(load_some(d, previous + narrow, count), n), n), d, h + narrow, count);
  });
}

template <class T>
void gru_cell_backward(const T* gates, const T* kept_u, const T* previous, const T* dh, T* dx, T* du, T* dprevious,
                       std::int64_t rows, std::int64_t C) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  for_each_cell(d, rows, C, [&](std::int64_t wide, std::int64_t narrow, std::int64_t count) HEED_LAMBDA {
    const auto r = load_some(d, gates + wide, count), z = load_some(d, gates + wide + C, count),
               n = load_some(d, gates + wide + 2 * C, count), up = load_some(d, dh + narrow, count);
    // The gradient before each gate's activation.
    const auto dn = hn::Mul(hn::Mul(up, hn::Sub(one, z)), hn::NegMulAdd(n, n, one));
    const auto dz = hn::Mul(hn::Mul(up, hn::Sub(load_some(d, previous + narrow, count), n)), hn::NegMulAdd(z, z, z));
    const auto dr = hn::Mul(hn::Mul(dn, load_some(d, kept_u + narrow, count)), hn::NegMulAdd(r, r, r));
    store_some(dr, d, dx + wide, count);
    store_some(dz, d, dx + wide + C, count);
    store_some(dn, d, dx + wide + 2 * C, count);
    store_some(dr, d, du + wide, count);
    store_some(dz, d, du + wide + C, count);
    store_some(hn::Mul(dn, r), d, du + wide + 2 * C, count);
    store_some(hn::MulAdd(up, z, load_some(d, dprevious + narrow, count)), d, dprevious + narrow, count);
  });
}

HEED_TARGET_FUNCTIONS(HEED_RECURRENT_KERNELS)

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_PUBLIC_FUNCTIONS(HEED_RECURRENT_KERNELS)

}  // namespace heed::kernels
#endif  // HWY_ONCE

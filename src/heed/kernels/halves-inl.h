// Vectors of 16-bit floats as vectors of floats, in order and transposed. The conversion is exact. Included once per
// target.
#if defined(HEED_KERNELS_HALVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HALVES_INL_H_
#undef HEED_KERNELS_HALVES_INL_H_
#else
#define HEED_KERNELS_HALVES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

#include "heed/base/types.h"
#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/lambda.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using HalfBits = std::uint16_t;
using HalfTag = hn::CappedTag<HalfBits, 32>;  // a vector as long as that of TileTag<float>
// Elements of a vector: that many of a run are transposed at once.
inline constexpr std::int64_t kHalves = static_cast<std::int64_t>(hn::MaxLanes(HalfTag()));
// Whether there are vectors of 256 bits and more, for which this is written; without them numbers go one by one.
inline constexpr bool kVectorHalves = kHalves >= 16;

#if HWY_MAX_BYTES >= 32

template <class Half>
struct HwyHalf;
template <>
struct HwyHalf<Float16> {
  using Type = hwy::float16_t;
};
template <>
struct HwyHalf<BFloat16> {
  using Type = hwy::bfloat16_t;
};

// Half a vector of bits to a vector of floats.
template <class Half, class V>
HWY_INLINE hn::Vec<TileTag<float>> to_floats(V bits) {
  const TileTag<float> d;
  const hn::Rebind<typename HwyHalf<Half>::Type, decltype(d)> half;
  return hn::PromoteTo(d, hn::BitCast(half, bits));
}

template <class Half>
HWY_INLINE hn::Vec<TileTag<float>> load_floats(const HalfBits* from) {
  return to_floats<Half>(hn::LoadU(hn::Half<HalfTag>(), from));
}

HWY_INLINE hn::Vec<HalfTag> load_and_fetch(const HalfBits* from, std::int64_t ahead) {
  __builtin_prefetch(from + ahead, 0, 2);
  return hn::LoadU(HalfTag(), from);
}

// Eight runs, of which element k of run j is at from[j * ld + k]: block b of out[i] has those of k = 8 b + i. A block
// is 128 bits.
template <class V>
HWY_INLINE void transpose_eight(const HalfBits* from, std::int64_t ld, std::int64_t ahead, V* out) {
  const HalfTag d;
  const hn::Repartition<std::uint32_t, HalfTag> d32;
  const hn::Repartition<std::uint64_t, HalfTag> d64;
  const auto pairs = [&](std::int64_t j, auto& lower, auto& upper) HEED_LAMBDA {
    const auto even = load_and_fetch(from + j * ld, ahead), odd = load_and_fetch(from + (j + 1) * ld, ahead);
    lower = hn::BitCast(d32, hn::InterleaveLower(d, even, odd));  // k = 0..3 of both
    upper = hn::BitCast(d32, hn::InterleaveUpper(d, even, odd));  // k = 4..7
  };
  hn::Vec<decltype(d32)> a0, a1, a2, a3, a4, a5, a6, a7;
  pairs(0, a0, a1), pairs(2, a2, a3), pairs(4, a4, a5), pairs(6, a6, a7);
  const auto quads = [&](auto first, auto second, auto& lower, auto& upper) HEED_LAMBDA {
    lower = hn::BitCast(d64, hn::InterleaveLower(d32, first, second));
    upper = hn::BitCast(d64, hn::InterleaveUpper(d32, first, second));
  };
  hn::Vec<decltype(d64)> b0, b1, b2, b3, b4, b5, b6, b7;
  quads(a0, a2, b0, b1), quads(a1, a3, b2, b3), quads(a4, a6, b4, b5), quads(a5, a7, b6, b7);
  const auto eights = [&](auto first, auto second, V& lower, V& upper) HEED_LAMBDA {
    lower = hn::BitCast(d, hn::InterleaveLower(d64, first, second));
    upper = hn::BitCast(d, hn::InterleaveUpper(d64, first, second));
  };
  eights(b0, b4, out[0], out[1]), eights(b1, b5, out[2], out[3]);
  eights(b2, b6, out[4], out[5]), eights(b3, b7, out[6], out[7]);
}

// use(k, floats) for the eight k from `begin` on, of which the lower or the upper halves of the vectors are.
template <class Half, bool kUpper, class V, class Use, std::size_t... I>
HWY_INLINE void use_halves(std::int64_t begin, const V* bits, const Use& use, std::index_sequence<I...>) {
  const hn::Half<HalfTag> half;
  const auto part = [&](V all) HEED_LAMBDA {
    if constexpr (kUpper) {
      return hn::UpperHalf(half, all);
    } else {
      return hn::LowerHalf(half, all);
    }
  };
  (use(begin + static_cast<std::int64_t>(I), to_floats<Half>(part(bits[I]))), ...);
}

// Runs, one per lane of a vector of floats: element k of run j is at from[j * ld + k]. Calls use(k, elements k of all
// runs) for kHalves of k in ascending order, and fetches what lies `ahead` elements further.
template <class Half, class Use>
HWY_INLINE void for_each_transposed(const HalfBits* from, std::int64_t ld, std::int64_t ahead, const Use& use) {
  using V = hn::Vec<HalfTag>;
  constexpr auto eight = std::make_index_sequence<8>();
  V first[8];
  transpose_eight(from, ld, ahead, first);
#if HWY_MAX_BYTES >= 64
  // Two blocks are a vector of floats: one of the first eight runs, one of the others.
  V second[8], even[8], odd[8];
  transpose_eight(from + 8 * ld, ld, ahead, second);
  const auto join = [&](std::size_t i) HEED_LAMBDA {
    even[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(second[i]), first[i]);
    odd[i] = hn::OddEvenBlocks(second[i], hn::SwapAdjacentBlocks(first[i]));
  };
  join(0), join(1), join(2), join(3), join(4), join(5), join(6), join(7);
  use_halves<Half, false>(0, even, use, eight);
  use_halves<Half, false>(8, odd, use, eight);
  use_halves<Half, true>(16, even, use, eight);
  use_halves<Half, true>(24, odd, use, eight);
#else
  use_halves<Half, false>(0, first, use, eight);
  use_halves<Half, true>(8, first, use, eight);
#endif
}

#endif  // HWY_MAX_BYTES

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

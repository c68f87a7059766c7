// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11) on vectors.
// Included once per target.
#if defined(HEED_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PHILOX_INL_H_
#undef HEED_KERNELS_PHILOX_INL_H_
#else
#define HEED_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "heed/kernels/lambda.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// words[4 k + j] = word j of block `first` + k, for as many blocks k as a vector has 64-bit lanes. Each 64-bit lane
// works on one block, its 32-bit words in the low halves: the 32 x 32 -> 64 bit product reads nothing else.
inline constexpr std::size_t kPhiloxMaxWords = 4 * HWY_MAX_BYTES / 8;

HWY_INLINE void philox_words(std::uint64_t first, std::uint64_t stream, std::uint64_t seed, std::uint32_t* words) {
  const hn::ScalableTag<std::uint64_t> d;
  const auto low_half = hn::Set(d, 0xFFFFFFFFull);
  const auto multiply = [&](auto a, std::uint64_t factor) HEED_LAMBDA {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, (hn::GetLane(a) & 0xFFFFFFFFull) * factor);
#else
    const hn::Repartition<std::uint32_t, decltype(d)> d32;
    return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, hn::Set(d, factor)));
#endif
  };
  const auto block = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
  auto c0 = block, c1 = hn::ShiftRight<32>(block);
  auto c2 = hn::Set(d, stream), c3 = hn::Set(d, stream >> 32);
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const auto product0 = multiply(c0, 0xD2511F53u), product1 = multiply(c2, 0xCD9E8D57u);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), hn::Set(d, std::uint64_t{key0}));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), hn::Set(d, std::uint64_t{key1}));
    c1 = product1;
    c3 = product0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const auto words01 = hn::Or(hn::And(c0, low_half), hn::ShiftLeft<32>(c1));
  const auto words23 = hn::Or(hn::And(c2, low_half), hn::ShiftLeft<32>(c3));
  HWY_ALIGN std::uint64_t pairs[kPhiloxMaxWords / 2];
  hn::StoreInterleaved2(words01, words23, d, pairs);
  std::memcpy(words, pairs, 16 * hn::Lanes(d));  // little-endian: the low half comes first
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // per-target include guard

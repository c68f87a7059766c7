// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", 2011). A number is a pure function of (seed, stream, index), so that what dropout or shuffling draws
// depends on the step and the position and never on threads, batch neighbours or what was drawn before.
//
// One index is one block of four 32-bit lanes. The scalar functions below each take one block, so that one stream
// may mix them; loops that fill arrays take philox() and use all four lanes.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heed {

// One block. Key {low32(seed), high32(seed)}, counter {low32(index), high32(index), low32(stream), high32(stream)}.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// Random bits to [0, 1): the upper 24 bits of a lane, or the upper 53 bits of two lanes. Every value is exact.
constexpr float unit_float(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}
constexpr double unit_double(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// Uniform in [0, 1): lane 0; lanes 0 (low) and 1 (high).
float uniform_float(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
double uniform_double(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// Uniform in [0, bound) without bias, bound >= 1: 64 bits of lanes 0 and 1 scaled by multiplication; the rare value
// that would bias is rejected and the same block drawn again under the seed stream_id(seed, attempt).
std::uint64_t uniform_integer(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint64_t bound);

// Two independent standard normal values by Box-Muller: radius from lanes 0 and 1, angle from lanes 2 and 3.
// Same bits on the same C library; log, sin and cos of another may differ in the last place.
std::array<double, 2> normal_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
// The first of the pair.
double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// 0 .. count-1 in random order: Fisher-Yates from the end, place i swapped with uniform_integer(.., i, i + 1).
std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream);

namespace detail {
// The finaliser of SplitMix64: a bijection in which every input bit reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}
constexpr std::uint64_t stream_part(std::integral auto number) {
  return static_cast<std::uint64_t>(number);
}
// FNV-1a, 64 bits.
constexpr std::uint64_t stream_part(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}
}  // namespace detail

// One stream number from what tells streams apart, in order: integers and names. Dropout of a layer at a step is
// stream_id("dropout", step, layer), its mask indexed by position; shuffling is stream_id("shuffle", epoch).
template <class... Parts>
constexpr std::uint64_t stream_id(const Parts&... parts) {
  std::uint64_t state = 0;
  ((state = detail::mix64(state + 0x9E3779B97F4A7C15u + detail::stream_part(parts))), ...);
  return state;
}

// Draws in order from one stream. `next` is the whole state: copy it, save it, set it. Each draw takes one index.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
  std::uint64_t next = 0;

  float uniform_float() { return heed::uniform_float(seed, stream, next++); }
  double uniform_double() { return heed::uniform_double(seed, stream, next++); }
  std::uint64_t uniform_integer(std::uint64_t bound) { return heed::uniform_integer(seed, stream, next++, bound); }
  double normal() { return heed::normal(seed, stream, next++); }

  bool operator==(const RandomStream&) const = default;
};

}  // namespace heed

#include "heed/base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "heed/base/checked.h"

namespace heed {
namespace {

constexpr std::uint32_t low32(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high32(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  constexpr int kRounds = 10;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  std::array<std::uint32_t, 4> c = {low32(index), high32(index), low32(stream), high32(stream)};
  std::uint32_t key0 = low32(seed), key1 = high32(seed);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * c[0];
    const std::uint64_t product1 = kMultiplier1 * c[2];
    c = {high32(product1) ^ c[1] ^ key0, low32(product1), high32(product0) ^ c[3] ^ key1, low32(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return c;
}

float uniform_float(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return unit_float(philox(seed, stream, index)[0]);
}

double uniform_double(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto lanes = philox(seed, stream, index);
  return unit_double(lanes[0], lanes[1]);
}

std::uint64_t uniform_integer(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint64_t bound) {
  HEED_CHECK(bound >= 1, "[uniform_integer] bound is 0, expected at least 1");
  // Lemire, "Fast random integer generation in an interval", 2019. Of the 2^64 products bits * bound, the 2^64 mod
  // bound whose low half is smallest are one too many for an even share.
  const std::uint64_t surplus = (0 - bound) % bound;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto lanes = philox(attempt == 0 ? seed : stream_id(seed, attempt), stream, index);
    const std::uint64_t bits = std::uint64_t{lanes[1]} << 32 | lanes[0];
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(bits) * bound;
    if (static_cast<std::uint64_t>(product) >= surplus) return static_cast<std::uint64_t>(product >> 64);
  }
}

std::array<double, 2> normal_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto lanes = philox(seed, stream, index);
  const double uniform = 1.0 - unit_double(lanes[0], lanes[1]);  // (0, 1]: its logarithm is finite
  const double radius = std::sqrt(-2.0 * std::log(uniform));
  const double angle = 2.0 * std::numbers::pi * unit_double(lanes[2], lanes[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return normal_pair(seed, stream, index)[0];
}

std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream) {
  const auto size = checked_cast<std::size_t>(count, "[permutation] count", ErrorKind::invalid_argument);
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = size; i-- > 1;) {
    std::swap(order[i], order[uniform_integer(seed, stream, i, i + 1)]);
  }
  return order;
}

}  // namespace heed

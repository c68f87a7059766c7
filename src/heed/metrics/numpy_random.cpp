#include "heed/metrics/numpy_random.h"

#include <array>
#include <bit>

namespace heed {
namespace {

using Pool = std::array<std::uint32_t, 4>;

// NumPy's SeedSequence (after O'Neill's seed_seq): multiplications whose factor changes from call to call.
class Hash {
 public:
  Hash(std::uint32_t start, std::uint32_t factor) : constant_(start), factor_(factor) {}
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= factor_;
    value *= constant_;
    return value ^ value >> 16;
  }

 private:
  std::uint32_t constant_, factor_;
};

std::uint32_t mixed(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = 0xCA01F9DD * x - 0x4973F715 * y;
  return result ^ result >> 16;
}

std::array<std::uint64_t, 4> seed_words(std::uint64_t seed) {
  Hash into(0x43B0D7E5, 0x931E8875), out_of(0x8B51F9DD, 0x58F38DED);
  Pool pool = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (std::uint32_t& word : pool) word = into(word);
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from != to) pool[to] = mixed(pool[to], into(pool[from]));
    }
  }
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < 2 * words.size(); ++i) {
    words[i / 2] |= std::uint64_t{out_of(pool[i % pool.size()])} << (i % 2 * 32);
  }
  return words;
}

}  // namespace

NumpyGenerator::NumpyGenerator(std::uint64_t seed) {
  const auto words = seed_words(seed);
  const Wide start = Wide{words[0]} << 64 | words[1];
  increment_ = (Wide{words[2]} << 64 | words[3]) << 1 | 1;
  next64();
  state_ += start;
  next64();
}

std::uint64_t NumpyGenerator::next64() {
  constexpr Wide kFactor = Wide{2549297995355413924} << 64 | 4865540595714422341;
  state_ = state_ * kFactor + increment_;
  return std::rotr(static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_),
                   static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyGenerator::next32() {
  if (half_) {
    const std::uint32_t kept = *half_;
    half_.reset();
    return kept;
  }
  const std::uint64_t bits = next64();
  half_ = static_cast<std::uint32_t>(bits >> 32);
  return static_cast<std::uint32_t>(bits);
}

// Lemire's multiplication; what falls into the uneven rest is drawn again.
std::uint32_t NumpyGenerator::below(std::uint32_t n) {
  if (n == 1) return 0;
  std::uint64_t product = std::uint64_t{next32()} * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t rest = -n % n;
    while (static_cast<std::uint32_t>(product) < rest) product = std::uint64_t{next32()} * n;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

bool NumpyGenerator::flip() {
  if (bits_left_ == 0) {
    bits_ = next32();
    bits_left_ = 32;
  } else {
    bits_ >>= 1;
  }
  --bits_left_;
  return (bits_ & 1) != 0;
}

std::uint32_t NumpyRandomState::below(std::uint32_t n) {
  if (n == 1) return 0;
  const auto mask = static_cast<std::uint32_t>(std::bit_ceil(std::uint64_t{n}) - 1);
  for (;;) {
    const auto value = static_cast<std::uint32_t>(twister_()) & mask;
    if (value < n) return value;
  }
}

}  // namespace heed

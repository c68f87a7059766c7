// The random numbers of NumPy, for resampling with the very samples of programs that use it.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

namespace heed {

// numpy.random.default_rng(seed): PCG64.
class NumpyGenerator {
 public:
  explicit NumpyGenerator(std::uint64_t seed);

  // integers(0, n) and choice(n), one by one; n is 1 to 2^32 - 1.
  std::uint32_t below(std::uint32_t n);
  // integers(2, dtype=bool), one by one. Not to be mixed with below().
  bool flip();

 private:
  using Wide = unsigned __int128;
  std::uint64_t next64();
  std::uint32_t next32();

  Wide state_ = 0, increment_ = 0;
  std::optional<std::uint32_t> half_{};  // of the last 64 bits
  std::uint32_t bits_ = 0;
  int bits_left_ = 0;
};

// numpy.random.RandomState(seed), which numpy.random.seed(seed) sets: the Mersenne twister.
class NumpyRandomState {
 public:
  explicit NumpyRandomState(std::uint32_t seed) : twister_(seed) {}

  // randint(0, n) and choice(n), one by one; n is 1 to 2^32 - 1.
  std::uint32_t below(std::uint32_t n);

 private:
  std::mt19937 twister_;
};

}  // namespace heed

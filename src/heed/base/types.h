// Small types that kernels share with everything above them.
#pragma once

#include <cstdint>

namespace heed {

// IEEE binary16, and the upper half of binary32.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

// Most axes of a tensor.
inline constexpr int kMaxRank = 8;

// gelu is the exact one (x times the normal distribution function); gelu_tanh its tanh form.
enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

enum class PoolKind { sum, mean, max };

// Which random numbers a dropout draws.
struct DropoutKey {
  std::uint64_t seed;
  std::uint64_t stream;  // which dropout of which step this is
};

}  // namespace heed

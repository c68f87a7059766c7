// 16-bit floats as floats, one by one. The conversion is exact; a NaN becomes a quiet one.
#pragma once

#include <bit>
#include <cstdint>

#include "heed/base/types.h"

namespace heed::kernels {

// Bit arithmetic for binary16, where the CPU has no instruction for it. As binary32 with the exponent field of binary16
// a value is 2^-112 times what it means; the multiplication also normalises subnormals.
inline float to_float(Float16 half) {
  const std::uint32_t magnitude = half.bits & 0x7FFFu;
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  if (magnitude > 0x7C00u) return std::bit_cast<float>(sign | 0x7FC00000u | magnitude << 13);
  if (magnitude == 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f));
}

inline float to_float(BFloat16 half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half.bits) << 16;
  return std::bit_cast<float>((bits & 0x7FFFFFFFu) > 0x7F800000u ? bits | 0x400000u : bits);
}

}  // namespace heed::kernels

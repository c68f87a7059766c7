// Cyclic redundancy checks of 32 bits, bits reflected, start and end inverted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heed {
namespace detail {

template <std::uint32_t polynomial>
std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? polynomial : 0);
    }
    return table;
  }();
  std::uint32_t state = ~0u;
  for (const char byte : bytes) state = state >> 8 ^ kTable[(state ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~state;
}

}  // namespace detail

// Of PNG, zip and Ethernet.
inline std::uint32_t crc32_ieee(std::string_view bytes) {
  return detail::crc32<0xEDB88320>(bytes);
}
// Castagnoli's, of TFRecord and iSCSI.
inline std::uint32_t crc32_castagnoli(std::string_view bytes) {
  return detail::crc32<0x82F63B78>(bytes);
}

}  // namespace heed

// The token that stands for one byte where a vocabulary falls back to bytes: "<0xE4>".
#pragma once

#include <string>
#include <string_view>

namespace heed::text {

inline std::string byte_token(std::size_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4 & 15], kDigits[byte & 15], '>'};
}

}  // namespace heed::text

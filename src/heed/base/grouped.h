#pragma once

#include <concepts>
#include <iterator>
#include <string>

namespace heed {

// 12345 as 12,345. Not for negative numbers.
template <std::integral Number>
std::string grouped(Number number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace heed

// What all fuzz targets share: the input as text, and promises that end the program when they are broken.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace heed::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A broken promise ends the program, which libFuzzer reports with the input.
inline void expect(bool promise, std::string_view what) {
  if (promise) return;
  std::cerr << "broken promise: " << what << std::endl;
  std::abort();
}

}  // namespace heed::fuzz

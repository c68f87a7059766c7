// Grey pictures as PNG, to be looked at only: pixels are stored, not compressed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct GreyImage {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels{};  // [height, width], 0 is black
};

// The bytes of a PNG file.
std::string encode_png(const GreyImage& image);

}  // namespace heed

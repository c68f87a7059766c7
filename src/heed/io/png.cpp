#include "heed/io/png.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/io/crc.h"

namespace heed {
namespace {

void append_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

void append_chunk(std::string& out, const std::string& type, const std::string& data) {
  append_big_endian(out, static_cast<std::uint32_t>(data.size()));
  out += type + data;
  append_big_endian(out, crc32_ieee(type + data));
}

std::uint32_t adler32(const std::string& bytes) {
  constexpr std::uint32_t kPrime = 65521;
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % kPrime;
    b = (b + a) % kPrime;
  }
  return b << 16 | a;
}

// zlib's format with stored blocks: a header, then (last?, length, its complement, bytes) as often as needed.
std::string stored_zlib(const std::string& bytes) {
  constexpr std::size_t kMostOfBlock = 65535;
  std::string out = "\x78\x01";
  std::size_t begin = 0;
  do {
    const std::size_t size = std::min(bytes.size() - begin, kMostOfBlock);
    out += static_cast<char>(begin + size == bytes.size());
    for (const std::size_t length : {size, ~size}) {
      out += static_cast<char>(length & 0xFF);
      out += static_cast<char>(length >> 8 & 0xFF);
    }
    out.append(bytes, begin, size);
    begin += size;
  } while (begin < bytes.size());
  append_big_endian(out, adler32(bytes));
  return out;
}

}  // namespace

std::string encode_png(const GreyImage& image) {
  constexpr std::int64_t kMost = 1 << 16;
  HEED_CHECK(image.width > 0 && image.width <= kMost && image.height > 0 && image.height <= kMost &&
                 static_cast<std::int64_t>(image.pixels.size()) == image.width * image.height,
             "[png] ", image.pixels.size(), " pixels for ", image.width, " x ", image.height);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(image.width));
  append_big_endian(header, static_cast<std::uint32_t>(image.height));
  header += std::string("\x08\x00\x00\x00\x00", 5);  // 8 bits, grey, the only compression and filter, not interlaced
  std::string rows;
  for (std::int64_t y = 0; y < image.height; ++y) {
    const auto row = image.pixels.begin() + y * image.width;
    rows += '\0';  // no filter
    rows.append(row, row + image.width);
  }
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", stored_zlib(rows));
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace heed

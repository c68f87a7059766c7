// SentencePiece's .model files, written by hand: protobuf.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "heed/text/sentencepiece.h"

namespace heed::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string integer_field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}
inline std::string bytes_field(std::uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
inline std::string float_field(std::uint64_t number, float value) {
  std::string bytes = varint(number << 3 | 5);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  return bytes;
}
inline std::string piece(const std::string& text, float score, text::PieceType type = text::PieceType::kNormal) {
  return bytes_field(1,
                     bytes_field(1, text) + float_field(2, score) + integer_field(3, static_cast<std::uint64_t>(type)));
}

inline std::string small_model(std::uint64_t kind) {
  return piece("<unk>", 0, text::PieceType::kUnknown) + piece("<s>", 0, text::PieceType::kControl) +
         piece("</s>", 0, text::PieceType::kControl) + piece("▁", -3) + piece("a", -4) + piece("b", -5) +
         piece("ab", -1) + piece("▁a", -0.5f) + piece("▁ab", -2) + piece("<user>", 0, text::PieceType::kUserDefined) +
         bytes_field(2, integer_field(3, kind) + integer_field(4, 8000) + integer_field(40, 0)) +
         bytes_field(3, bytes_field(1, "identity"));
}

}  // namespace heed::test

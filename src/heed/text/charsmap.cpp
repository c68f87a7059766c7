#include "heed/text/charsmap.h"

#include "heed/base/error.h"

namespace heed::text {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t read_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return value;
}

// A unit of Darts: a leaf has a value; any other has a label, says whether a leaf is among its children, and where
// the children are (its index xor the offset xor the byte).
std::uint32_t unit_value(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
std::uint32_t unit_label(std::uint32_t unit) {
  return unit & 0x800000FF;
}
bool unit_has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t unit_offset(std::uint32_t unit) {
  return unit >> 10 << ((unit & 1u << 9) >> 6);
}

}  // namespace

Charsmap::Charsmap(std::string_view bytes, std::string_view context) : bytes_(bytes) {
  HEED_CHECK_AS(bad_format, bytes.size() >= 4, context, ": precompiled_charsmap has ", bytes.size(),
                " bytes, expected at least 4");
  const std::uint32_t trie_bytes = read_u32(bytes, 0);
  HEED_CHECK_AS(bad_format, trie_bytes % 4 == 0 && trie_bytes > 0 && trie_bytes <= bytes.size() - 4, context,
                ": precompiled_charsmap says its trie has ", trie_bytes, " bytes, expected a multiple of 4 up to ",
                bytes.size() - 4);
  for (std::size_t at = 4; at < 4 + std::size_t{trie_bytes}; at += 4) units_.push_back(read_u32(bytes, at));
  strings_ = 4 + std::size_t{trie_bytes};
}

Charsmap Charsmap::from_base64(std::string_view text, std::string_view context) {
  return Charsmap(base64_decode(text, context), context);
}

std::optional<std::string_view> Charsmap::find(std::string_view chunk) const {
  std::size_t node = unit_offset(units_[0]);
  for (const char c : chunk) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    node ^= byte;
    if (node >= units_.size() || unit_label(units_[node]) != byte) break;
    const bool leaf = unit_has_leaf(units_[node]);
    node ^= unit_offset(units_[node]);
    if (!leaf || node >= units_.size()) continue;
    const std::size_t at = strings_ + unit_value(units_[node]);
    if (at > bytes_.size()) return std::nullopt;
    return std::string_view(bytes_).substr(at, bytes_.find('\0', at) - at);
  }
  return std::nullopt;
}

std::string Charsmap::to_base64() const {
  return base64_encode(bytes_);
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::string base64_decode(std::string_view text, std::string_view context) {
  HEED_CHECK_AS(bad_format, text.size() % 4 == 0, context, ": base64 text has ", text.size(),
                " characters, expected a multiple of 4");
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = i < text.size() - padding ? kDigits.find(text[i]) : 0;
    HEED_CHECK_AS(bad_format, digit != std::string_view::npos, context, ": base64 text has a character outside the ",
                  "alphabet at ", i);
    group = group << 6 | static_cast<std::uint32_t>(digit);
    if (i % 4 == 3) {
      for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 0xFF);
      group = 0;
    }
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace heed::text

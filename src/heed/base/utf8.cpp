#include "heed/base/utf8.h"

#include <cstdint>
#include <cstring>

#include "heed/base/error.h"

namespace heed {
namespace {

// What a lead byte promises. Only the second byte has a range of its own: it excludes overlongs (E0, F0), surrogates
// (ED) and what is above U+10FFFF (F4). length 0: not a lead byte.
struct Lead {
  int length;
  std::uint8_t second_min, second_max;
  std::uint8_t payload;  // bits of the lead byte that belong to the value
};

Lead classify(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0, 0x7F};
  if (byte < 0xC2) return {0, 0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF, 0x1F};
  if (byte < 0xF0) {
    return {3, static_cast<std::uint8_t>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<std::uint8_t>(byte == 0xED ? 0x9F : 0xBF), 0x0F};
  }
  if (byte < 0xF5) {
    return {4, static_cast<std::uint8_t>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<std::uint8_t>(byte == 0xF4 ? 0x8F : 0xBF), 0x07};
  }
  return {0, 0, 0, 0};
}

// First byte at or after `offset` that is not ASCII, eight bytes per step.
std::size_t skip_ascii(std::string_view text, std::size_t offset) {
  while (offset + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + offset, 8);
    if (word & 0x8080808080808080u) break;
    offset += 8;
  }
  while (offset < text.size() && static_cast<std::uint8_t>(text[offset]) < 0x80) ++offset;
  return offset;
}

}  // namespace

CodePoint utf8_decode(std::string_view text, std::size_t offset) {
  const auto byte_at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte_at(offset);
  const Lead lead = classify(first);
  if (lead.length == 0) return {kReplacementCharacter, offset, 1, false};
  char32_t value = first & lead.payload;
  for (std::size_t i = 1; i < static_cast<std::size_t>(lead.length); ++i) {
    const std::uint8_t low = i == 1 ? lead.second_min : 0x80;
    const std::uint8_t high = i == 1 ? lead.second_max : 0xBF;
    if (offset + i >= text.size() || byte_at(offset + i) < low || byte_at(offset + i) > high) {
      return {kReplacementCharacter, offset, i, false};
    }
    value = value << 6 | (byte_at(offset + i) & 0x3F);
  }
  return {value, offset, static_cast<std::size_t>(lead.length), true};
}

std::optional<std::size_t> utf8_find_invalid(std::string_view text) {
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const CodePoint point = utf8_decode(text, at);
    if (!point.valid) return at;
    at += point.length;
  }
  return std::nullopt;
}

void utf8_append(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t bits) { text.push_back(static_cast<char>(static_cast<std::uint8_t>(bits))); };
  const auto put_rest = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put_rest(0);
  } else if (code_point < 0x10000) {
    HEED_CHECK(code_point < 0xD800 || code_point > 0xDFFF, "[utf8_append] ", static_cast<std::uint32_t>(code_point),
               " is a surrogate, expected a Unicode scalar value");
    put(0xE0 | code_point >> 12);
    put_rest(6);
    put_rest(0);
  } else {
    HEED_CHECK(code_point <= 0x10FFFF, "[utf8_append] ", static_cast<std::uint32_t>(code_point),
               " is above U+10FFFF, expected a Unicode scalar value");
    put(0xF0 | code_point >> 18);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

std::string utf8_replace_invalid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;  // text[0, copied) is in out
  for (std::size_t at = skip_ascii(text, 0); at < text.size(); at = skip_ascii(text, at)) {
    const CodePoint point = utf8_decode(text, at);
    if (!point.valid) {
      out.append(text, copied, at - copied);
      utf8_append(out, kReplacementCharacter);
      copied = at + point.length;
    }
    at += point.length;
  }
  return out.append(text, copied);
}

std::size_t utf8_length(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = skip_ascii(text, at);
    count += next - at;
    at = next;
    if (at < text.size()) {
      at += utf8_decode(text, at).length;
      ++count;
    }
  }
  return count;
}

}  // namespace heed

// What the stages ask about a code point, answered as HuggingFace tokenizers answers it: its stages were built with
// tables of Unicode 9 (marks, normal forms), 15 and later (letters, case), and unassigned code points have no property.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed::text {

// Properties of a code point, as bits.
using Properties = std::uint16_t;
inline constexpr Properties kIsWhitespace = 1 << 0;  // White_Space
inline constexpr Properties kIsControl = 1 << 1;     // what BertNormalizer removes: Cc, Cf, Co but no tab or newline
inline constexpr Properties kIsNonspacingMark = 1 << 2;  // Mn
inline constexpr Properties kIsCombiningMark = 1 << 3;   // M
inline constexpr Properties kIsPunctuation = 1 << 4;     // ASCII punctuation and P
inline constexpr Properties kIsNumeric = 1 << 5;         // N
inline constexpr Properties kIsWord = 1 << 6;            // \w of Rust's regular expressions
inline constexpr Properties kIsRegexLetter = 1 << 7;     // \p{L} of Oniguruma
inline constexpr Properties kIsRegexNumber = 1 << 8;     // \p{N} of Oniguruma
inline constexpr Properties kIsDecomposed = 1 << 9;      // has a decomposition, canonical or compatibility

namespace detail {
struct PropertyPages {
  PropertyPages();
  // pages_of[point >> 8] is a page of 256 properties.
  const Properties* pages_of[0x110000 >> 8];
};
extern const PropertyPages& property_pages();
}  // namespace detail

// Looks up many code points: fetches the table once.
class PropertyTable {
 public:
  PropertyTable() : pages_(&detail::property_pages()) {}
  // `point` is at most U+10FFFF.
  Properties operator[](char32_t point) const { return pages_->pages_of[point >> 8][point & 0xFF]; }
  bool has(char32_t point, Properties any_of) const { return (*this)[point] & any_of; }

 private:
  const detail::PropertyPages* pages_;
};

// The blocks that BertNormalizer puts spaces around (with HuggingFace's start of extension E at U+2B920).
bool is_chinese(char32_t point);

// The lower-case letter; U+0130 alone becomes two (i and U+0307), whose second lower_case_tail gives. 0: no second.
char32_t lower_case(char32_t point);
inline char32_t lower_case_tail(char32_t point) {
  return point == 0x130 ? 0x307 : 0;
}

// One valid code point from the bytes at `at`, which is moved past it. The text must be valid UTF-8.
inline char32_t next_point(const char*& at) {
  const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(at[i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    at += 1;
    return lead;
  }
  if (lead < 0xE0) {
    const char32_t point = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    at += 2;
    return point;
  }
  if (lead < 0xF0) {
    const char32_t point = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    at += 3;
    return point;
  }
  const char32_t point = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  at += 4;
  return point;
}

// Bytes of the UTF-8 form of a code point, and of the character that starts with the byte `lead`.
inline std::uint32_t encoded_length(char32_t point) {
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}
inline std::uint32_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Appends the UTF-8 form of a valid code point.
inline void append_point(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

// Calls action(code point, byte offset) for each character of valid UTF-8.
template <class Action>
void for_each_point(std::string_view text, const Action& action) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    const auto offset = static_cast<std::size_t>(at - text.data());
    const char32_t point = next_point(at);
    action(point, offset);
  }
}

bool is_ascii(std::string_view text);

}  // namespace heed::text

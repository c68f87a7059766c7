#include "heed/chat/literals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "heed/base/utf8.h"

namespace heed::chat {
namespace {

bool is_digit_of(char c, int base) {
  const char letter = static_cast<char>(c | 0x20);
  if (c >= '0' && c <= '9') return c - '0' < base;
  return base == 16 && letter >= 'a' && letter <= 'f';
}

// Digits with single underscores between them, from `at`.
std::size_t digits_end(std::string_view text, std::size_t at, int base) {
  while (at < text.size()) {
    const std::size_t digit = text[at] == '_' ? at + 1 : at;
    if (digit >= text.size() || !is_digit_of(text[digit], base)) break;
    at = digit + 1;
  }
  return at;
}

int base_of(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  switch (text[1] | 0x20) {
    case 'b': return 2;
    case 'o': return 8;
    case 'x': return 16;
    default: return 10;
  }
}

// The end of ".5" or "e-3" or ".5e-3" at `at`; `at` itself if there is none.
std::size_t fraction_end(std::string_view text, std::size_t at) {
  const auto is_digit_at = [&](std::size_t i) { return i < text.size() && is_digit_of(text[i], 10); };
  std::size_t end = at;
  if (at < text.size() && text[at] == '.' && is_digit_at(at + 1)) end = digits_end(text, at + 1, 10);
  if (end < text.size() && (text[end] | 0x20) == 'e') {
    const bool has_sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    const std::size_t digits = end + (has_sign ? 2 : 1);
    if (is_digit_at(digits)) end = digits_end(text, digits, 10);
  }
  return end;
}

char32_t hex_value(std::string_view digits, std::size_t count, char kind) {
  char32_t value = 0;
  const bool right =
      digits.size() >= count && std::ranges::all_of(digits.substr(0, count), [](char c) { return is_digit_of(c, 16); });
  HEED_CHECK_AS(bad_format, right, "\\", kind, " in a string needs ", count, " hexadecimal digits");
  std::uint32_t parsed = 0;
  std::from_chars(digits.data(), digits.data() + count, parsed, 16);
  value = parsed;
  HEED_CHECK_AS(bad_format, value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF), "\\", kind,
                digits.substr(0, count), " in a string is no Unicode character");
  return value;
}

// jinja2 writes other characters as escapes before it reads escapes, so a backslash before one has this effect.
std::string escape_after_backslash(char32_t point) {
  std::array<char, 16> text{};
  const char* form = point < 0x100 ? "x%02x" : point < 0x10000 ? "u%04x" : "U%08x";
  std::snprintf(text.data(), text.size(), form, static_cast<unsigned>(point));
  return text.data();
}

// Appends what the escape after the backslash stands for; returns how many bytes it has.
std::size_t append_escape(std::string& out, std::string_view rest) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
  const char kind = rest[0];
  if (const std::size_t known = kLetters.find(kind); known != std::string_view::npos) {
    out += kMeanings[known];
    return 1;
  }
  if (kind == '\n') return 1;
  if (kind == 'x' || kind == 'u' || kind == 'U') {
    const std::size_t count = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    utf8_append(out, hex_value(rest.substr(1), count, kind));
    return count + 1;
  }
  if (is_digit_of(kind, 8)) {
    std::size_t count = 0;
    char32_t value = 0;
    while (count < 3 && count < rest.size() && is_digit_of(rest[count], 8)) {
      value = value * 8 + static_cast<char32_t>(rest[count++] - '0');
    }
    utf8_append(out, value);
    return count;
  }
  HEED_CHECK_AS(bad_format, kind != 'N', "\\N in a string is not supported");
  out += '\\';
  if (static_cast<unsigned char>(kind) < 0x80) {
    out += kind;
    return 1;
  }
  const CodePoint point = utf8_decode(rest, 0);
  out += escape_after_backslash(point.value);
  return point.length;
}

}  // namespace

std::size_t number_length(std::string_view text, bool after_dot) {
  if (text.empty() || !is_digit_of(text[0], 10)) return 0;
  if (!after_dot) {
    const std::size_t whole = digits_end(text, 1, 10), end = fraction_end(text, whole);
    if (end > whole) return end;
  }
  if (const int base = base_of(text); base != 10) {
    const std::size_t end = digits_end(text, 2, base);
    if (end > 2) return end;
  }
  if (text[0] != '0') return digits_end(text, 1, 10);
  std::size_t end = 1;
  while (end < text.size() && (text[end] == '0' || text.substr(end, 2) == "_0")) end += text[end] == '0' ? 1U : 2U;
  return end;
}

Value parse_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  const int base = base_of(digits);
  const bool is_float = base == 10 && digits.find_first_of(".eE") != std::string::npos;
  const char *begin = digits.data() + (base == 10 ? 0 : 2), *end = digits.data() + digits.size();
  if (is_float) {
    double value = 0;
    const auto result = std::from_chars(begin, end, value);
    // Python reads what is too large as infinity, and what is too small as 0.
    if (result.ec == std::errc::result_out_of_range) return std::strtod(begin, nullptr);
    return value;
  }
  std::int64_t value = 0;
  const auto result = std::from_chars(begin, end, value, base);
  HEED_CHECK_AS(bad_format, result.ec == std::errc{}, "the number ", text, " does not fit in 64 bits");
  return value;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
    } else {
      at += 1 + append_escape(out, text.substr(at + 1));
    }
  }
  return out;
}

}  // namespace heed::chat

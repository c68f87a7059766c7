#include "heed/chat/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "heed/base/error.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

// Single underscores may stand between digits; without them, nothing where one stands elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool is_between = i > 0 && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i - 1])) &&
                            std::isalnum(static_cast<unsigned char>(text[i + 1]));
    if (!is_between) return std::nullopt;
  }
  return out;
}

std::int64_t base_of_prefix(std::string_view digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = static_cast<char>(digits[1] | 0x20);
  return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
}

}  // namespace

std::optional<std::int64_t> parse_int(std::string_view text, std::int64_t base) {
  HEED_CHECK(base == 0 || (base >= 2 && base <= 36), "int() base must be >= 2 and <= 36, or 0");
  const auto clean = without_underscores(strip(text, Side::kBoth));
  if (!clean) return std::nullopt;
  std::string_view digits = *clean;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::int64_t prefix = base_of_prefix(digits);
  if (base == 0) {
    // 007 is no number in Python.
    if (prefix == 10 && digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of('0') != std::string_view::npos) {
      return std::nullopt;
    }
    base = prefix;
  }
  if (prefix != 10 && prefix == base) digits.remove_prefix(2);
  if (digits.empty() || !std::isalnum(static_cast<unsigned char>(digits[0]))) return std::nullopt;
  const std::string signed_digits = (is_negative ? "-" : "") + std::string(digits);
  std::int64_t value = 0;
  const char* end = signed_digits.data() + signed_digits.size();
  const auto result = std::from_chars(signed_digits.data(), end, value, static_cast<int>(base));
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  HEED_CHECK(result.ec == std::errc{}, "the number ", text, " does not fit in 64 bits");
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  const auto clean = without_underscores(strip(text, Side::kBoth));
  if (!clean || clean->empty()) return std::nullopt;
  std::string_view digits = *clean;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::string word = lower(digits);
  double value = 0;
  if (word == "inf" || word == "infinity") {
    value = HUGE_VAL;
  } else if (word == "nan") {
    value = std::nan("");
  } else {
    if (word.empty() || word.find_first_not_of("0123456789.e+-") != std::string::npos) return std::nullopt;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ptr != word.data() + word.size() || result.ec == std::errc::invalid_argument) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) value = std::strtod(word.c_str(), nullptr);
  }
  return is_negative ? -value : value;
}

std::int64_t truncated(double value) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  HEED_CHECK(value >= -kTwoTo63 && value < kTwoTo63, "the float ", value, " does not fit in 64 bits as an integer");
  return static_cast<std::int64_t>(value);
}

}  // namespace heed::chat

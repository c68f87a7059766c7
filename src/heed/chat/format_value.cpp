#include <array>
#include <charconv>
#include <cmath>

#include "heed/base/utf8.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/format.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

constexpr std::int64_t kMostWidth = 1'000'000;
constexpr std::int64_t kMostPrecision = 300;

// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = 0, sign = '-', type = 0;
  char group = 0;  // , or _ between thousands
  bool is_alternate = false;
  std::size_t width = 0;
  std::optional<int> precision;
};

std::size_t take_number(std::string_view& spec, std::int64_t most) {
  std::int64_t number = 0;
  while (!spec.empty() && spec[0] >= '0' && spec[0] <= '9') {
    number = number * 10 + (spec[0] - '0');
    HEED_CHECK(number <= most, "a format asks for more than ", most, " characters");
    spec.remove_prefix(1);
  }
  return static_cast<std::size_t>(number);
}

bool take(std::string_view& spec, std::string_view any_of, char& into) {
  if (spec.empty() || any_of.find(spec[0]) == std::string_view::npos) return false;
  into = spec[0];
  spec.remove_prefix(1);
  return true;
}

Spec parse_spec(std::string_view spec) {
  const std::string_view whole = spec;
  constexpr std::string_view kAligns = "<>=^";
  Spec result;
  if (!spec.empty()) {
    const std::size_t first = utf8_decode(spec, 0).length;
    if (spec.size() > first && kAligns.find(spec[first]) != std::string_view::npos) {
      result.fill = spec.substr(0, first);
      spec.remove_prefix(first);
    }
  }
  take(spec, kAligns, result.align);
  take(spec, "+- ", result.sign);
  char found = 0;
  result.is_alternate = take(spec, "#", found);
  if (take(spec, "0", found) && !result.align) {
    result.align = '=';
    result.fill.assign(1, '0');
  }
  result.width = take_number(spec, kMostWidth);
  take(spec, ",_", result.group);
  if (take(spec, ".", found)) {
    HEED_CHECK(!spec.empty() && spec[0] >= '0' && spec[0] <= '9', "Format specifier missing precision");
    result.precision = static_cast<int>(take_number(spec, kMostWidth));
  }
  take(spec, "bcdeEfFgGnosxX%", result.type);
  HEED_CHECK(spec.empty(), "Invalid format specifier '", whole, "'");
  return result;
}

std::string with_groups(const std::string& digits, char group) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) out += group;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string whole_digits(std::int64_t value, const Spec& spec) {
  const auto magnitude =
      value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : spec.type == 'x' || spec.type == 'X' ? 16 : 10;
  std::array<char, 72> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, base);
  std::string digits(buffer.data(), end.ptr);
  if (spec.type == 'X') digits = upper(digits);
  return (spec.is_alternate && base != 10 ? std::string("0") + spec.type : "") + digits;
}

std::string real_digits(double value, const Spec& spec) {
  const double magnitude = std::fabs(value);
  const bool is_large = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
  if (std::isnan(value)) return is_large ? "NAN" : "nan";
  if (std::isinf(value)) return is_large ? "INF" : "inf";
  if (!spec.type && !spec.precision) return float_text(magnitude);
  const int precision = spec.precision.value_or(6);
  HEED_CHECK(precision <= kMostPrecision, "a format asks for more than ", kMostPrecision, " digits");
  // Digits before the point can be 309.
  std::array<char, 700> buffer{};
  const char kind = spec.type == '%' ? 'f' : spec.type ? static_cast<char>(spec.type | 0x20) : 'g';
  const std::string form = std::string("%") + (spec.is_alternate ? "#" : "") + ".*" + kind;
  std::snprintf(buffer.data(), buffer.size(), form.c_str(), precision, spec.type == '%' ? magnitude * 100 : magnitude);
  std::string digits = buffer.data();
  // Without a type, a float shows that it is one.
  if (!spec.type && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  if (is_large) digits = upper(digits);
  return spec.type == '%' ? digits + "%" : digits;
}

std::string padded(Evaluator& evaluator, const std::string& sign, const std::string& body, const Spec& spec,
                   char align) {
  const std::size_t length = utf8_length(sign) + utf8_length(body);
  if (length >= spec.width) return sign + body;
  const std::size_t missing = spec.width - length;
  evaluator.budget().spend_bytes(missing, spec.fill.size());
  const auto fill = [&](std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += spec.fill;
    return out;
  };
  if (align == '=') return sign + fill(missing) + body;
  if (align == '<') return sign + body + fill(missing);
  if (align == '^') return fill(missing / 2) + sign + body + fill(missing - missing / 2);
  return fill(missing) + sign + body;
}

std::string number_text(Evaluator& evaluator, const Value& value, const Spec& spec) {
  const bool is_real =
      value.real() || std::string_view("eEfFgG%").find(spec.type ? spec.type : '?') != std::string_view::npos;
  HEED_CHECK(spec.type != 's' && spec.type != 'c' && spec.type != 'n', "Unknown format code '", spec.type,
             "' for object of type '", value.type_name(), "'");
  HEED_CHECK(!value.real() || std::string_view("bdoxX").find(spec.type ? spec.type : '?') == std::string_view::npos,
             "Unknown format code '", spec.type, "' for object of type 'float'");
  HEED_CHECK(is_real || !spec.precision, "Precision not allowed in integer format specifier");
  const bool is_negative = is_real ? std::signbit(*value.number()) && !std::isnan(*value.number()) : *value.whole() < 0;
  std::string digits = is_real ? real_digits(*value.number(), spec) : whole_digits(*value.whole(), spec);
  if (spec.group) digits = with_groups(digits, spec.group);
  const std::string sign = is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  return padded(evaluator, sign, digits, spec, spec.align ? spec.align : '>');
}

}  // namespace

std::string format_value(Evaluator& evaluator, const Value& value, std::string_view text) {
  if (text.empty()) return to_text(evaluator, value);
  const Spec spec = parse_spec(text);
  if (value.number() && !(value.boolean() && !spec.type)) return number_text(evaluator, value, spec);
  if (value.boolean()) return number_text(evaluator, *value.whole(), spec);
  HEED_CHECK(value.text(), "unsupported format string passed to ", value.type_name(), ".__format__");
  HEED_CHECK(!spec.type || spec.type == 's', "Unknown format code '", spec.type, "' for object of type 'str'");
  HEED_CHECK(spec.align != '=' || spec.fill == "0", "'=' alignment not allowed in string format specifier");
  const auto part =
      spec.precision ? text_slice(*value.text(), 0, *spec.precision).first : std::string_view(*value.text());
  return padded(evaluator, "", std::string(part), spec, spec.align && spec.align != '=' ? spec.align : '<');
}

}  // namespace heed::chat

#include <array>
#include <cmath>
#include <cstdio>

#include "heed/chat/arithmetic.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/numbers.h"

namespace heed::chat {
namespace {

using detail::AttributePath;
using detail::NamedFilter;

Value absolute(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("abs", arguments).done();
  value.check_defined();
  HEED_CHECK(value.number(), "bad operand type for abs(): '", value.type_name(), "'");
  if (value.real()) return std::fabs(*value.real());
  return *value.whole() < 0 ? negative(value) : arithmetic(evaluator, "+", value, 0);
}

Value to_int(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters parameters("int", arguments);
  const Value fallback = parameters.optional("default", 0);
  const std::int64_t base = as_whole(parameters.optional("base", 10), "int's base");
  parameters.done();
  value.check_defined();
  if (const auto whole = value.whole()) return *whole;
  if (const std::string* text = value.text()) {
    if (const auto whole = parse_int(*text, base)) return *whole;
  }
  const auto real = value.text() ? parse_float(*value.text()) : value.number();
  return real && !std::isnan(*real) ? Value(truncated(*real)) : fallback;
}

Value to_float(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters parameters("float", arguments);
  const Value fallback = parameters.optional("default", 0.0);
  parameters.done();
  value.check_defined();
  const auto real = value.text() ? parse_float(*value.text()) : value.number();
  return real ? Value(*real) : fallback;
}

// Python rounds the decimal form correctly, half to even; so does printf.
double rounded(double value, std::int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / unit) * unit;
  }
  std::array<char, 700> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", static_cast<int>(digits), value);
  return std::strtod(buffer.data(), nullptr);
}

std::int64_t rounded(std::int64_t value, std::int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  std::int64_t unit = 1;
  for (std::int64_t i = 0; i > digits; --i) unit *= 10;
  const std::int64_t rest = std::abs(value % unit), down = value - value % unit;
  const bool is_up = rest > unit - rest || (rest == unit - rest && down / unit % 2 != 0);
  if (!is_up) return down;
  std::int64_t up = 0;
  HEED_CHECK(!__builtin_add_overflow(down, value < 0 ? -unit : unit, &up), value, " rounded does not fit in 64 bits");
  return up;
}

Value round(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("round", arguments);
  const Value precision = parameters.optional("precision", 0);
  const Value method = parameters.optional("method", "common");
  parameters.done();
  value.check_defined();
  HEED_CHECK(method.text() && (*method.text() == "common" || *method.text() == "ceil" || *method.text() == "floor"),
             "method must be common, ceil or floor");
  HEED_CHECK(value.number(), "type ", value.type_name(), " has no round");
  if (*method.text() == "common") {
    const std::int64_t digits = as_whole(precision, "round's precision");
    if (value.whole()) return rounded(*value.whole(), digits);
    return rounded(*value.real(), digits);
  }
  const Value scale = arithmetic(evaluator, "**", 10, precision);
  const double scaled = *arithmetic(evaluator, "*", value, scale).number();
  const double whole = *method.text() == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return arithmetic(evaluator, "/", truncated(whole), scale);
}

Value sum(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("sum", arguments);
  const AttributePath path(parameters.optional("attribute", None{}));
  Value total = parameters.optional("start", 0);
  parameters.done();
  HEED_CHECK(!total.text(), "sum() can't sum strings");
  for (const Value& item : items_of(evaluator, value)) {
    total = arithmetic(evaluator, "+", total, path.of(evaluator, item));
  }
  return total;
}

Value length(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters("length", arguments).done();
  const auto count = length_of(value);
  HEED_CHECK(count, "object of type '", value.type_name(), "' has no len()");
  return Value::of_size(*count);
}

constexpr std::array kFilters = {NamedFilter{"abs", absolute},   NamedFilter{"count", length},
                                 NamedFilter{"float", to_float}, NamedFilter{"int", to_int},
                                 NamedFilter{"length", length},  NamedFilter{"round", round},
                                 NamedFilter{"sum", sum}};

}  // namespace

std::span<const NamedFilter> detail::number_filters() {
  return kFilters;
}

}  // namespace heed::chat

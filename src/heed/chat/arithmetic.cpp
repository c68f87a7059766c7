#include "heed/chat/arithmetic.h"

#include <cmath>

#include "heed/base/checked.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/format.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

constexpr auto kArgument = ErrorKind::invalid_argument;

[[noreturn]] void refuse(const std::string& operation, const Value& a, const Value& b) {
  fail(kArgument, "unsupported operand type(s) for ", operation, ": '", a.type_name(), "' and '", b.type_name(), "'");
}

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  HEED_CHECK(b != 0, "integer division or modulo by zero");
  HEED_CHECK(b != -1 || a != INT64_MIN, "-(", a, ") does not fit in 64 bits");
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  HEED_CHECK(b != 0, "integer division or modulo by zero");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double remainder_of(double a, double b) {
  HEED_CHECK(b != 0, "float modulo");
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// Python's way, which keeps a == (a // b) * b + a % b as well as it can.
double floor_divided(double a, double b) {
  HEED_CHECK(b != 0, "float floor division by zero");
  const double rest = remainder_of(a, b);
  const double quotient = (a - rest) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

Value power_of(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    HEED_CHECK(base != 0, "0.0 cannot be raised to a negative power");
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  if (base == 0 || base == 1) return exponent == 0 ? std::int64_t{1} : base;
  if (base == -1) return exponent % 2 == 0 ? std::int64_t{1} : std::int64_t{-1};
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) result = checked_mul(result, base, "[**]", kArgument);
  return result;
}

Value whole_result(const std::string& operation, std::int64_t a, std::int64_t b) {
  if (operation == "+") return checked_add(a, b, "[+]", kArgument);
  if (operation == "*") return checked_mul(a, b, "[*]", kArgument);
  if (operation == "//") return floor_divided(a, b);
  if (operation == "%") return remainder_of(a, b);
  if (operation == "**") return power_of(a, b);
  if (operation == "/") {
    HEED_CHECK(b != 0, "division by zero");
    return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
  }
  std::int64_t difference = 0;
  HEED_CHECK(!__builtin_sub_overflow(a, b, &difference), a, " - ", b, " does not fit in 64 bits");
  return difference;
}

Value real_result(const std::string& operation, double a, double b) {
  if (operation == "+") return a + b;
  if (operation == "-") return a - b;
  if (operation == "*") return a * b;
  if (operation == "//") return floor_divided(a, b);
  if (operation == "%") return remainder_of(a, b);
  if (operation == "/") {
    HEED_CHECK(b != 0, "float division by zero");
    return a / b;
  }
  HEED_CHECK(a != 0 || b >= 0, "0.0 cannot be raised to a negative power");
  HEED_CHECK(a >= 0 || b == std::floor(b), "a negative number has no power of ", b);
  const double result = std::pow(a, b);
  HEED_CHECK(!std::isinf(result) || std::isinf(a) || std::isinf(b), "the power does not fit in a float");
  return result;
}

Value repeated(Evaluator& evaluator, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (const std::string* text = value.text()) {
    evaluator.budget().spend_bytes(count, text->size());
    std::string out;
    for (std::size_t i = 0; i < count && !text->empty(); ++i) out += *text;
    return value.made(std::move(out));
  }
  const Sequence& sequence = *value.sequence();
  Values items;
  if (!sequence.items.empty()) {
    evaluator.budget().spend_bytes(count, 16 * sequence.items.size());
    for (std::size_t i = 0; i < count; ++i) items.insert(items.end(), sequence.items.begin(), sequence.items.end());
  }
  return make_sequence(sequence.is_tuple() ? SequenceKind::kTuple : SequenceKind::kList, std::move(items));
}

bool is_list_or_tuple(const Value& value) {
  return value.sequence() && (value.sequence()->kind == SequenceKind::kList || value.sequence()->is_tuple());
}

// a + b of two texts, two lists or two tuples.
Value concatenated(Evaluator& evaluator, const Value& a, const Value& b) {
  if (a.text() && b.text()) {
    evaluator.budget().spend_bytes(a.text()->size() + b.text()->size());
    if (a.is_markup() == b.is_markup()) return a.made(*a.text() + *b.text());
    const std::string added = escaped_markup(a.is_markup() ? *b.text() : *a.text());
    evaluator.budget().spend_bytes(added.size());
    return Value::markup(a.is_markup() ? *a.text() + added : added + *b.text());
  }
  const bool fit = is_list_or_tuple(a) && is_list_or_tuple(b) && a.sequence()->is_tuple() == b.sequence()->is_tuple();
  if (!fit) refuse("+", a, b);
  Values items = a.sequence()->items;
  items.insert(items.end(), b.sequence()->items.begin(), b.sequence()->items.end());
  evaluator.budget().spend(items.size());
  return a.sequence()->is_tuple() ? make_tuple(std::move(items)) : make_list(std::move(items));
}

}  // namespace

Value arithmetic(Evaluator& evaluator, const std::string& operation, const Value& a, const Value& b) {
  const bool formats = operation == "%" && a.text();
  a.check_defined();
  if (!formats) b.check_defined();
  if (a.whole() && b.whole()) return whole_result(operation, *a.whole(), *b.whole());
  if (a.number() && b.number()) return real_result(operation, *a.number(), *b.number());
  if (formats) return percent_format(evaluator, *a.text(), b);
  if (operation == "+") return concatenated(evaluator, a, b);
  const bool repeats = operation == "*";
  if (repeats && b.whole() && (a.text() || is_list_or_tuple(a))) return repeated(evaluator, a, *b.whole());
  if (repeats && a.whole() && (b.text() || is_list_or_tuple(b))) return repeated(evaluator, b, *a.whole());
  refuse(operation, a, b);
}

Value negative(const Value& value) {
  value.check_defined();
  if (const auto whole = value.whole()) {
    HEED_CHECK(*whole != INT64_MIN, "-(", *whole, ") does not fit in 64 bits");
    return -*whole;
  }
  HEED_CHECK(value.real(), "bad operand type for unary -: '", value.type_name(), "'");
  return -*value.real();
}

Value positive(const Value& value) {
  value.check_defined();
  if (const auto whole = value.whole()) return *whole;
  HEED_CHECK(value.real(), "bad operand type for unary +: '", value.type_name(), "'");
  return value;
}

bool compare(Evaluator& evaluator, const std::string& operation, const Value& a, const Value& b) {
  if (operation == "<") return is_less(evaluator, a, b);
  if (operation == ">") return is_less(evaluator, b, a);
  if (operation == "<=") return is_less(evaluator, a, b) || is_equal(evaluator, a, b);
  return is_less(evaluator, b, a) || is_equal(evaluator, a, b);
}

}  // namespace heed::chat

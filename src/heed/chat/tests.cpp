#include "heed/chat/tests.h"

#include <unordered_map>

#include "heed/base/utf8.h"
#include "heed/chat/arithmetic.h"
#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

// A test without arguments.
template <bool (*Is)(const Value&)>
bool plain(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters("test", arguments).done();
  return Is(value);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_boolean(const Value& value) {
  return value.boolean();
}
bool is_just_true(const Value& value) {
  return value.boolean() && *value.boolean();
}
bool is_just_false(const Value& value) {
  return value.boolean() && !*value.boolean();
}
bool is_integer(const Value& value) {
  return value.integer();
}
bool is_float(const Value& value) {
  return value.real();
}
bool is_number(const Value& value) {
  return value.number().has_value();
}
bool is_string(const Value& value) {
  return value.text();
}
bool is_mapping(const Value& value) {
  return value.dict();
}
bool is_iterable_value(const Value& value) {
  return is_iterable(value);
}
bool is_sequence(const Value& value) {
  return value.text() || value.dict() || (value.sequence() && value.sequence()->has_items());
}
bool is_callable(const Value& value) {
  return value.is_undefined() || (value.object() && value.object()->is_callable());
}
bool is_escaped(const Value& value) {
  return value.is_markup();
}

// There are letters, and all are so.
template <bool (*Is)(char32_t)>
bool letters(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("test", arguments).done();
  bool found = false;
  const std::string text = to_text(evaluator, value);
  for (const CodePoint& point : Utf8View(text)) {
    if (is_cased(point.value) && !Is(point.value)) return false;
    found |= Is(point.value);
  }
  return found;
}

Value argument_of(Arguments& arguments, const char* name) {
  Parameters parameters("test", arguments);
  Value value = parameters.required(name);
  parameters.done();
  return value;
}

template <int rest>
bool is_rest_of_two(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("test", arguments).done();
  return is_equal(evaluator, arithmetic(evaluator, "%", value, 2), rest);
}

bool is_divisible(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  return is_equal(evaluator, arithmetic(evaluator, "%", value, argument_of(arguments, "num")), 0);
}

bool is_same(Evaluator&, const Value& value, Arguments& arguments) {
  return value.is_same(argument_of(arguments, "other"));
}

bool is_in(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  return contains(evaluator, argument_of(arguments, "seq"), value);
}

bool is_filter(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters("test", arguments).done();
  return value.text() && find_filter(*value.text());
}

bool is_test(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters("test", arguments).done();
  return value.text() && find_test(*value.text());
}

template <bool wanted>
bool equals(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  return is_equal(evaluator, value, argument_of(arguments, "")) == wanted;
}

constexpr char kLess[] = "<", kLessOrEqual[] = "<=", kGreater[] = ">", kGreaterOrEqual[] = ">=";
template <const char* operation>
bool compares(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  return compare(evaluator, operation, value, argument_of(arguments, ""));
}

}  // namespace

const Test* find_test(std::string_view name) {
  static const std::unordered_map<std::string_view, Test> table = {
      {"!=", equals<false>},
      {"<", compares<kLess>},
      {"<=", compares<kLessOrEqual>},
      {"==", equals<true>},
      {">", compares<kGreater>},
      {">=", compares<kGreaterOrEqual>},
      {"boolean", plain<is_boolean>},
      {"callable", plain<is_callable>},
      {"defined", plain<is_defined>},
      {"divisibleby", is_divisible},
      {"eq", equals<true>},
      {"equalto", equals<true>},
      {"escaped", plain<is_escaped>},
      {"even", is_rest_of_two<0>},
      {"false", plain<is_just_false>},
      {"filter", is_filter},
      {"float", plain<is_float>},
      {"ge", compares<kGreaterOrEqual>},
      {"greaterthan", compares<kGreater>},
      {"gt", compares<kGreater>},
      {"in", is_in},
      {"integer", plain<is_integer>},
      {"iterable", plain<is_iterable_value>},
      {"le", compares<kLessOrEqual>},
      {"lessthan", compares<kLess>},
      {"lower", letters<is_lower>},
      {"lt", compares<kLess>},
      {"mapping", plain<is_mapping>},
      {"ne", equals<false>},
      {"none", plain<is_none>},
      {"number", plain<is_number>},
      {"odd", is_rest_of_two<1>},
      {"sameas", is_same},
      {"sequence", plain<is_sequence>},
      {"string", plain<is_string>},
      {"test", is_test},
      {"true", plain<is_just_true>},
      {"undefined", plain<is_undefined>},
      {"upper", letters<is_upper>},
  };
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace heed::chat

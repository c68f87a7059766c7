// Filters that take a filter or a test, and apply it to each item.
#include <array>

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"

namespace heed::chat {
namespace {

using detail::AttributePath;
using detail::NamedFilter;

Value mapped_attribute(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("map", arguments);
  const Value attribute = parameters.required("attribute");
  const AttributePath path(attribute, parameters.optional("default", None{}));
  parameters.done();
  Values result;
  for (const Value& item : items_of(evaluator, value)) result.push_back(path.of(evaluator, item));
  return make_iterator(std::move(result));
}

Value map(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  if (!is_true(value)) return make_iterator({});  // also none and 0, as in jinja2
  if (arguments.positional.empty()) return mapped_attribute(evaluator, value, arguments);
  const std::string name = as_text(arguments.positional.front(), "map's filter");
  arguments.positional.erase(arguments.positional.begin());
  Values result;
  for (const Value& item : items_of(evaluator, value)) result.push_back(evaluator.filter(name, item, arguments));
  return make_iterator(std::move(result));
}

// Items for which the test says `wanted`; without a test, those that are true.
template <bool wanted, bool of_attribute>
Value choose(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  if (!is_true(value)) return make_iterator({});  // also none and 0, as in jinja2
  auto& given = arguments.positional;
  Value attribute;
  if (of_attribute) {
    HEED_CHECK(!given.empty(), "Missing parameter for attribute name");
    attribute = given.front();
    given.erase(given.begin());
  }
  std::string test;
  if (!given.empty()) {
    test = as_text(given.front(), "the name of a test");
    given.erase(given.begin());
  }
  const AttributePath path(attribute);
  Values result;
  for (const Value& item : items_of(evaluator, value)) {
    const Value subject = path.of(evaluator, item);
    const bool holds = test.empty() ? is_true(subject) : evaluator.test(test, subject, arguments);
    if (holds == wanted) result.push_back(item);
  }
  return make_iterator(std::move(result));
}

constexpr std::array kFilters = {NamedFilter{"map", map}, NamedFilter{"reject", choose<false, false>},
                                 NamedFilter{"rejectattr", choose<false, true>},
                                 NamedFilter{"select", choose<true, false>},
                                 NamedFilter{"selectattr", choose<true, true>}};

}  // namespace

std::span<const NamedFilter> detail::choice_filters() {
  return kFilters;
}

}  // namespace heed::chat

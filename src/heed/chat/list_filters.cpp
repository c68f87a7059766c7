#include <algorithm>
#include <array>

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/methods.h"
#include "heed/chat/print.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::AttributePath;
using detail::NamedFilter;

Value attribute(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("attr", arguments);
  const std::string name = to_text(evaluator, parameters.required("name"));
  parameters.done();
  value.check_defined();
  // Other than value.name, it does not look at the keys of a dict.
  if (value.object()) return evaluator.attribute(value, name);
  const auto method = find_method(value, name);
  return method ? *method
                : Value::undefined(concat({"'", value.type_name(), " object' has no attribute '", name, "'"}));
}

Value fallback(Evaluator&, const Value& value, Arguments& arguments) {
  Parameters parameters("default", arguments);
  const Value other = parameters.optional("default_value", "");
  const bool for_false = is_true(parameters.optional("boolean", false));
  parameters.done();
  return value.is_undefined() || (for_false && !is_true(value)) ? other : value;
}

Value first(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("first", arguments).done();
  const Sequence* sequence = value.sequence();
  if (sequence && sequence->kind == SequenceKind::kIterator && sequence->used < sequence->items.size()) {
    return sequence->items[sequence->used++];
  }
  const Values items = items_of(evaluator, value);
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("last", arguments).done();
  value.check_defined();
  HEED_CHECK(!value.sequence() || value.sequence()->kind != SequenceKind::kIterator, "'", value.type_name(),
             "' object is not reversible");
  const Values items = items_of(evaluator, value);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value items(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("items", arguments).done();
  if (value.is_undefined()) return make_iterator({});
  HEED_CHECK(value.dict(), "Can only get item pairs from a mapping.");
  evaluator.budget().spend(value.dict()->entries().size());
  Values pairs;
  for (const auto& [key, each] : value.dict()->entries()) pairs.push_back(make_tuple({key, each}));
  return make_iterator(std::move(pairs));
}

Value join(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("join", arguments);
  const std::string separator = to_text(evaluator, parameters.optional("d", ""));
  const AttributePath path(parameters.optional("attribute", None{}));
  parameters.done();
  std::string out;
  bool is_first = true;
  for (const Value& item : items_of(evaluator, value)) {
    const std::string text = to_text(evaluator, path.of(evaluator, item));
    evaluator.budget().spend_bytes(text.size() + separator.size());
    if (!is_first) out += separator;
    is_first = false;
    out += text;
  }
  return out;
}

Value list(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("list", arguments).done();
  return make_list(items_of(evaluator, value));
}

Value reverse(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters("reverse", arguments).done();
  if (const std::string* text = value.text()) {
    auto points = code_points(*text);
    std::string out;
    for (auto point = points.rbegin(); point != points.rend(); ++point) out += *point;
    return out;
  }
  const bool is_iterator = value.sequence() && value.sequence()->kind == SequenceKind::kIterator;
  Values all = items_of(evaluator, value);
  std::ranges::reverse(all);
  return is_iterator || value.is_undefined() ? make_list(std::move(all)) : make_iterator(std::move(all));
}

Value batch(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("batch", arguments);
  const std::int64_t size = as_whole(parameters.required("linecount"), "batch's size");
  const Value fill = parameters.optional("fill_with", None{});
  parameters.done();
  Values batches, open;
  for (const Value& item : items_of(evaluator, value)) {
    if (std::cmp_equal(open.size(), size)) batches.push_back(make_list(std::exchange(open, {})));
    open.push_back(item);
  }
  if (open.empty()) return make_iterator(std::move(batches));
  if (!fill.is_none() && std::cmp_less(open.size(), size)) {
    evaluator.budget().spend(static_cast<std::size_t>(size));
    open.resize(static_cast<std::size_t>(size), fill);
  }
  batches.push_back(make_list(std::move(open)));
  return make_iterator(std::move(batches));
}

Value slice(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("slice", arguments);
  const std::int64_t count = as_whole(parameters.required("slices"), "slice's count");
  const Value fill = parameters.optional("fill_with", None{});
  parameters.done();
  const Values all = items_of(evaluator, value);
  HEED_CHECK(count != 0, "integer division or modulo by zero");
  if (count < 0) return make_iterator({});
  const auto slices = static_cast<std::size_t>(count);
  evaluator.budget().spend(slices);
  const std::size_t each = all.size() / slices, with_extra = all.size() % slices;
  Values result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    const std::size_t end = at + each + (i < with_extra ? 1 : 0);
    Values part(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(end));
    if (!fill.is_none() && i >= with_extra) part.push_back(fill);
    result.push_back(make_list(std::move(part)));
    at = end;
  }
  return make_iterator(std::move(result));
}

constexpr std::array kFilters = {
    NamedFilter{"attr", attribute},   NamedFilter{"batch", batch}, NamedFilter{"d", fallback},
    NamedFilter{"default", fallback}, NamedFilter{"first", first}, NamedFilter{"items", items},
    NamedFilter{"join", join},        NamedFilter{"last", last},   NamedFilter{"list", list},
    NamedFilter{"reverse", reverse},  NamedFilter{"slice", slice}};

}  // namespace

std::span<const NamedFilter> detail::list_filters() {
  return kFilters;
}

}  // namespace heed::chat

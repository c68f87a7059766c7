// Filters that compare items: sort, min, max, unique, groupby, dictsort.
#include <algorithm>
#include <array>
#include <set>

#include "heed/chat/compare.h"
#include "heed/chat/evaluator.h"
#include "heed/chat/filters.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

using detail::AttributePath;
using detail::NamedFilter;
using detail::sort_key;

struct Keyed {
  Value key, item;
};

// Equal ones keep their order, also in reverse.
void sort_by_key(Evaluator& evaluator, std::vector<Keyed>& items, bool reverse) {
  std::ranges::stable_sort(items, [&](const Keyed& a, const Keyed& b) {
    return reverse ? is_less(evaluator, b.key, a.key) : is_less(evaluator, a.key, b.key);
  });
}

Value sort(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("sort", arguments);
  const bool reverse = is_true(parameters.optional("reverse", false));
  const bool case_sensitive = is_true(parameters.optional("case_sensitive", false));
  const Value attribute = parameters.optional("attribute", None{});
  parameters.done();
  std::vector<AttributePath> paths;
  if (attribute.text()) {
    for (const std::string& each : split(*attribute.text(), ",", -1)) paths.emplace_back(each);
  } else {
    paths.emplace_back(attribute);
  }
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(evaluator, value)) {
    Values keys;
    for (const AttributePath& path : paths) {
      keys.push_back(sort_key(evaluator, path.of(evaluator, item), case_sensitive));
    }
    keyed.push_back({make_list(std::move(keys)), item});
  }
  sort_by_key(evaluator, keyed, reverse);
  Values sorted;
  for (Keyed& each : keyed) sorted.push_back(std::move(each.item));
  return make_list(std::move(sorted));
}

Value dict_sort(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("dictsort", arguments);
  const bool case_sensitive = is_true(parameters.optional("case_sensitive", false));
  const std::string by = as_text(parameters.optional("by", "key"), "dictsort's by");
  const bool reverse = is_true(parameters.optional("reverse", false));
  parameters.done();
  value.check_defined();
  HEED_CHECK(by == "key" || by == "value", "You can only sort by either \"key\" or \"value\"");
  HEED_CHECK(value.dict(), "'", value.type_name(), "' object has no attribute 'items'");
  std::vector<Keyed> keyed;
  for (const auto& [key, each] : value.dict()->entries()) {
    keyed.push_back({sort_key(evaluator, by == "key" ? key : each, case_sensitive), make_tuple({key, each})});
  }
  sort_by_key(evaluator, keyed, reverse);
  Values sorted;
  for (Keyed& each : keyed) sorted.push_back(std::move(each.item));
  return make_list(std::move(sorted));
}

template <bool largest>
Value extreme(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters(largest ? "max" : "min", arguments);
  const bool case_sensitive = is_true(parameters.optional("case_sensitive", false));
  const AttributePath path(parameters.optional("attribute", None{}));
  parameters.done();
  std::optional<Keyed> best;
  for (const Value& item : items_of(evaluator, value)) {
    const Value key = sort_key(evaluator, path.of(evaluator, item), case_sensitive);
    const bool is_better = !best || (largest ? is_less(evaluator, best->key, key) : is_less(evaluator, key, best->key));
    if (is_better) best = Keyed{key, item};
  }
  return best ? best->item : Value::undefined("No aggregated item, sequence was empty.");
}

Value unique(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("unique", arguments);
  const bool case_sensitive = is_true(parameters.optional("case_sensitive", false));
  const AttributePath path(parameters.optional("attribute", None{}));
  parameters.done();
  std::set<std::string> seen;
  Values result;
  for (const Value& item : items_of(evaluator, value)) {
    const std::string key = hash_key(sort_key(evaluator, path.of(evaluator, item), case_sensitive));
    evaluator.budget().spend_bytes(key.size());
    if (seen.insert(key).second) result.push_back(item);
  }
  return make_iterator(std::move(result));
}

Value group_by(Evaluator& evaluator, const Value& value, Arguments& arguments) {
  Parameters parameters("groupby", arguments);
  const Value attribute = parameters.required("attribute");
  const AttributePath path(attribute, parameters.optional("default", None{}));
  const bool case_sensitive = is_true(parameters.optional("case_sensitive", false));
  parameters.done();
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(evaluator, value)) {
    keyed.push_back({sort_key(evaluator, path.of(evaluator, item), case_sensitive), item});
  }
  sort_by_key(evaluator, keyed, false);
  Values groups;
  for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
    Values members;
    for (; end < keyed.size() && is_equal(evaluator, keyed[end].key, keyed[begin].key); ++end) {
      members.push_back(keyed[end].item);
    }
    if (end == begin) members.push_back(keyed[end++].item);  // a NaN is not even itself
    // The key as the first item has it, before its letters were made small.
    const Value grouper = case_sensitive ? keyed[begin].key : path.of(evaluator, members.front());
    groups.push_back(make_sequence(SequenceKind::kGroup, {grouper, make_list(std::move(members))}));
  }
  return make_list(std::move(groups));
}

constexpr std::array kFilters = {NamedFilter{"dictsort", dict_sort}, NamedFilter{"groupby", group_by},
                                 NamedFilter{"max", extreme<true>},  NamedFilter{"min", extreme<false>},
                                 NamedFilter{"sort", sort},          NamedFilter{"unique", unique}};

}  // namespace

std::span<const NamedFilter> detail::order_filters() {
  return kFilters;
}

}  // namespace heed::chat

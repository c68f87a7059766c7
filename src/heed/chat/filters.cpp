#include "heed/chat/filters.h"

#include <unordered_map>

#include "heed/chat/evaluator.h"
#include "heed/chat/literals.h"
#include "heed/chat/text.h"

namespace heed::chat {

const Filter* find_filter(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, Filter> map;
    for (const auto list : {detail::text_filters(), detail::markup_filters(), detail::number_filters(),
                            detail::list_filters(), detail::choice_filters(), detail::order_filters()}) {
      for (const detail::NamedFilter& each : list) map.emplace(each.name, each.filter);
    }
    return map;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

namespace detail {

AttributePath::AttributePath(const Value& attribute, Value fallback) : fallback_(std::move(fallback)) {
  if (const std::string* path = attribute.text()) {
    for (const std::string& part : split(*path, ".", -1)) {
      const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
      parts_.push_back(is_number ? parse_number(part) : Value(part));
    }
  } else if (!attribute.is_none()) {
    parts_.push_back(attribute);
  }
}

Value AttributePath::of(Evaluator& evaluator, Value item) const {
  for (const Value& part : parts_) {
    item = evaluator.item(item, part);
    if (item.is_undefined() && !fallback_.is_none()) item = fallback_;
  }
  return item;
}

Value sort_key(Evaluator& evaluator, const Value& value, bool case_sensitive) {
  if (case_sensitive || !value.text()) return value;
  evaluator.budget().spend_bytes(value.text()->size());
  return lower(*value.text());
}

}  // namespace detail

}  // namespace heed::chat

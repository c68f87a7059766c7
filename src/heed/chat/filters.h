// The filters of jinja2 that templates of chats may use, with tojson as HuggingFace has it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/chat/object.h"

namespace heed::chat {

using Filter = Value (*)(Evaluator& evaluator, const Value& value, Arguments& arguments);

// Null if there is none.
const Filter* find_filter(std::string_view name);

namespace detail {

struct NamedFilter {
  std::string_view name;
  Filter filter;
};
std::span<const NamedFilter> text_filters();
std::span<const NamedFilter> markup_filters();
std::span<const NamedFilter> number_filters();
std::span<const NamedFilter> list_filters();
std::span<const NamedFilter> choice_filters();
std::span<const NamedFilter> order_filters();

// Follows "a.b.0" from an item, as the attribute of sort, map and others does; none: the item itself. What is
// undefined on the way becomes the fallback, unless that is none.
class AttributePath {
 public:
  explicit AttributePath(const Value& attribute, Value fallback = None{});
  Value of(Evaluator& evaluator, Value item) const;

 private:
  Values parts_;
  Value fallback_;
};

// A text as sorting sees it: small letters, unless case counts.
Value sort_key(Evaluator& evaluator, const Value& value, bool case_sensitive);

}  // namespace detail

}  // namespace heed::chat

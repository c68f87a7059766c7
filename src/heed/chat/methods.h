// Methods of Python's types: "text".strip, list.index, dict.items ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/chat/object.h"

namespace heed::chat {

// The method with its object; nothing if the type has none of that name. What would change a list or a dict is
// undefined, as in jinja2's immutable sandbox: calling it is an error.
std::optional<Value> find_method(const Value& of, const std::string& name);

namespace detail {

struct Method {
  std::string_view name;
  Value (*call)(Evaluator& evaluator, const Value& self, Arguments& arguments);
};
// Null if there is none.
const Method* find_text_method(std::string_view name);
const Method* find_container_method(const Value& of, std::string_view name);

}  // namespace detail

}  // namespace heed::chat

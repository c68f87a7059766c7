#include "heed/chat/object.h"

#include <algorithm>

#include "heed/chat/evaluator.h"
#include "heed/chat/print.h"

namespace heed::chat {

Value Object::call(Evaluator&, Arguments) {
  fail(ErrorKind::invalid_argument, "'", type_name(), "' object is not callable");
}

std::string Namespace::print(Evaluator& evaluator) const {
  const Level level(evaluator.depth(), kMostCallDepth, "namespaces that hold each other are nested");
  return "<Namespace " + repr(evaluator, make_dict(attributes_)) + ">";
}

std::optional<Value> Namespace::attribute(Evaluator&, std::string_view name) {
  const Value* found = attributes_.find(name);
  return found ? std::optional(*found) : std::nullopt;
}

const Value* Parameters::take(std::string_view name) {
  const auto& all = arguments_.named;
  const auto named = std::ranges::find(all, name, &std::pair<std::string, Value>::first);
  const bool is_named = !name.empty() && named != all.end();
  if (next_ < arguments_.positional.size()) {
    HEED_CHECK(!is_named, function_, "() got multiple values for argument '", name, "'");
    return &arguments_.positional[next_++];
  }
  if (!is_named) return nullptr;
  taken_.push_back(name);
  return &named->second;
}

Value Parameters::required(std::string_view name) {
  const Value* value = take(name);
  HEED_CHECK(value, function_, "() is missing an argument", name.empty() ? "" : ": ", name);
  return *value;
}

Value Parameters::optional(std::string_view name, Value fallback) {
  const Value* value = take(name);
  return value ? *value : fallback;
}

void Parameters::done() const {
  for (const auto& [name, value] : arguments_.named) {
    HEED_CHECK(std::ranges::find(taken_, name) != taken_.end(), function_, "() got an unexpected keyword argument '",
               name, "'");
  }
  HEED_CHECK(next_ >= arguments_.positional.size(), function_, "() takes ", next_, " arguments, but ",
             arguments_.positional.size(), " were given");
}

std::int64_t as_whole(const Value& value, std::string_view what) {
  value.check_defined();
  const auto whole = value.whole();
  HEED_CHECK(whole, what, " is of type ", value.type_name(), ", expected an integer");
  return *whole;
}

const std::string& as_text(const Value& value, std::string_view what) {
  value.check_defined();
  HEED_CHECK(value.text(), what, " is of type ", value.type_name(), ", expected a string");
  return *value.text();
}

}  // namespace heed::chat

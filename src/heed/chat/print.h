// Values as text, as Python's str(), repr() and json.dumps() write them.
#pragma once

#include <optional>
#include <string>

#include "heed/chat/value.h"

namespace heed::chat {

class Evaluator;

// str(): what {{ value }} writes.
std::string to_text(Evaluator& evaluator, const Value& value);
std::string repr(Evaluator& evaluator, const Value& value);
std::string quoted_text(std::string_view text);
// The shortest digits that give the number again: 1.0, 1e+16, 1e-05, inf.
std::string float_text(double value);

struct JsonStyle {
  std::optional<std::string> indent;  // of each level; none: all in one line
  std::string item_separator = ", ", key_separator = ": ";
  bool ascii = false, sort_keys = false;
};
std::string to_json(Evaluator& evaluator, const Value& value, const JsonStyle& style);

}  // namespace heed::chat

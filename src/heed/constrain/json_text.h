// JSON as text: the rules that schemas are built from. Spaces: at most one, after a comma and after a colon. Characters
// of strings are written as themselves, except those that JSON wants escaped: \" \\ \b \f \n \r \t, and \u00XX for
// other control characters. So a text has few spellings, and none that goes on for ever.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/constrain/grammar.h"

namespace heed::constrain {

class JsonText {
 public:
  // Containers around the innermost one, for Grammar: what is written can be read by parse_json.
  static constexpr std::uint32_t kMaxNesting = kJsonDepth - 1;

  explicit JsonText(Grammar& grammar) : grammar_(grammar) {}

  ExpressionId comma() { return separator(","); }
  ExpressionId colon() { return separator(":"); }
  // One character of the set, inside a string.
  ExpressionId chars(const CharSet& set);
  // A string of which the expression, made of chars(), spells the inside.
  ExpressionId quoted(ExpressionId inside);
  // A string that is none of these.
  ExpressionId string_except(const std::vector<std::string>& excluded);
  // This value alone. `depth` is how deep it lies.
  ExpressionId value(const OrderedJson& value, int depth = 0);

  ExpressionId any_string() { return grammar_.rule(string_rule()); }
  ExpressionId any_number() { return grammar_.rule(number_rule()); }
  ExpressionId any_object() { return grammar_.rule((any_value(), *object_)); }
  ExpressionId any_array() { return grammar_.rule((any_value(), *array_)); }
  ExpressionId any_value();

 private:
  ExpressionId separator(const char* mark);
  RuleId string_rule();
  RuleId number_rule();

  Grammar& grammar_;
  std::optional<RuleId> string_, number_, object_, array_, value_;
};

}  // namespace heed::constrain

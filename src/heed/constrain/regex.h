// Regular expressions, the part that ECMA-262 and Python share and that describes regular languages:
// docs/constraints.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heed/constrain/grammar.h"

namespace heed::constrain {

// What spells the characters of a set in the text, for a regular expression over what the text means: in a JSON string
// a quotation mark is written with a backslash.
using Spelling = std::function<ExpressionId(const CharSet&)>;

enum class RegexUse {
  whole,   // the expression matches the whole text
  search,  // it matches somewhere in it
};

// Errors start with `context`.
ExpressionId add_regex(Grammar& grammar, std::string_view pattern, RegexUse use, const Spelling& spelling,
                       const std::string& context);

}  // namespace heed::constrain

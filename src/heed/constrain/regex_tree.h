// A parsed regular expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/constrain/char_set.h"

namespace heed::constrain {

struct RegexNode {
  enum class Kind { chars, begin, end, sequence, choice, repeat };
  Kind kind = Kind::sequence;
  CharSet set{};
  std::uint32_t min = 0, max = 0;
  std::vector<RegexNode> parts{};  // of a repetition: one
};

// Throws bad_format for what is not a regular expression or not supported; messages start with `context`.
RegexNode parse_regex(std::string_view pattern, const std::string& context);

}  // namespace heed::constrain

// Patterns of tokenizer.json ({"String": ...} or {"Regex": ...}) and what becomes of the matches when a text is split.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/fields.h"
#include "heed/text/normalized.h"
#include "heed/text/regex.h"

namespace heed::text {

class Pattern {
 public:
  Pattern(const Json& json, const std::string& context);

  // Appends the matches from left to right, without overlap. The pattern "" matches between all characters.
  void find_all(std::string_view text, std::vector<Span>& matches) const;

 private:
  std::string literal_;
  std::optional<Regex> regex_;
};

// How the delimiters, the matches, end up among the parts. "the-final--countdown" on "-":
enum class SplitBehavior {
  removed,               // the final countdown
  isolated,              // the - final - - countdown
  merged_with_previous,  // the- final- - countdown
  merged_with_next,      // the -final - -countdown
  contiguous,            // the - final -- countdown
};

SplitBehavior split_behavior(Fields& fields, const std::string& key);

// A stretch of the text, and whether it is a match. Stretches cover the text without gaps.
struct Stretch {
  Span span;
  bool match = false;
};

// The stretches of a text of `size` bytes with these matches; invert turns matches into the rest and vice versa.
void stretches_of(const std::vector<Span>& matches, std::size_t size, bool invert, std::vector<Stretch>& stretches);

// Appends the parts that the behaviour makes of the stretches.
void split_stretches(const std::vector<Stretch>& stretches, SplitBehavior behavior, std::vector<Span>& parts);

}  // namespace heed::text

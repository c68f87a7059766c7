// Regular expressions of tokenizer.json: Oniguruma, the engine of HuggingFace tokenizers.
//
// Character classes are those of the installed Oniguruma, whose Unicode version may be older than HuggingFace's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/normalized.h"

namespace heed::text {

class Regex {
 public:
  // Throws bad_format with `context` and the engine's reason when the pattern is none.
  Regex(const std::string& pattern, std::string_view context);

  // Appends the matches from left to right. They do not overlap; an empty one never follows another directly. Safe to
  // call from several threads at once. Throws invalid_argument when the engine gives up (too much backtracking).
  void find_all(std::string_view text, std::vector<Span>& matches) const;

 private:
  struct Handle;
  std::shared_ptr<const Handle> handle_;
};

}  // namespace heed::text

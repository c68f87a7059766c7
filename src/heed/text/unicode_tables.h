// The sets of code points that the stages of HuggingFace tokenizers go by (written by tools/make_unicode_tables.js).
#pragma once

#include <cstdint>
#include <span>

namespace heed::text {

struct CodeRange {
  char32_t first, last;  // both inclusive
};

// first, first + step ... last have the lower-case letter at a distance of delta.
struct LowerRun {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t delta;
};

struct UnicodeTables {
  std::span<const CodeRange> whitespace, control, nonspacing_mark, combining_mark, punctuation, numeric, word,
      regex_letter, regex_number, decomposes;
  std::span<const LowerRun> lower;
};

UnicodeTables unicode_tables();

}  // namespace heed::text

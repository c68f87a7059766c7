#include "heed/metrics/ter_tokenizer.h"

#include <string_view>

#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/metrics/mteval.h"
#include "heed/metrics/words.h"
#include "heed/text/letter_case.h"

namespace heed {
namespace {

// The text with what write(out, character) makes of each.
template <class Write>
std::string rewritten(std::string_view text, const Write& write) {
  std::string out;
  out.reserve(text.size());
  for (const CodePoint& point : Utf8View(text)) write(out, point.value);
  return out;
}

bool is_asian_mark(char32_t point) {
  return point == 0x3001 || point == 0x3002 || (point >= 0x3008 && point <= 0x3011) ||
         (point >= 0x3014 && point <= 0x301F) || (point >= 0xFF61 && point <= 0xFF65) || point == 0x30FB ||
         std::u32string_view(U"\uFF0E\uFF0C\uFF1F\uFF1A\uFF1B\uFF01\uFF02\uFF08\uFF09").find(point) !=
             std::u32string_view::npos;
}

// Kana stay together: sacrebleu means to part them from others, and its rule for that never fits.
bool is_asian_character(char32_t point) {
  return (point >= 0x2E80 && point <= 0x2EFF) || (point >= 0x31C0 && point <= 0x31EF) ||
         (point >= 0x3200 && point <= 0x4DBF) || (point >= 0x4E00 && point <= 0x9FFF) ||
         (point >= 0xF900 && point <= 0xFAFF) || (point >= 0xFE30 && point <= 0xFE4F);
}

std::string spaced_asian(std::string_view text) {
  return rewritten(text, [](std::string& out, char32_t point) {
    const bool alone = is_asian_character(point) || is_asian_mark(point);
    if (alone) out += ' ';
    utf8_append(out, point);
    if (alone) out += ' ';
  });
}

std::string normalized_text(std::string_view text, bool asian) {
  std::string line = replace_all(replace_all(text, "\n-", ""), "\n", " ");
  line = space_symbols(" " + without_entities(line) + " ");
  line = space_periods(replace_all(line, "'s ", " 's "));
  return asian ? spaced_asian(line) : line;
}

std::string without_marks(std::string_view text, bool asian) {
  constexpr std::u32string_view kMarks = U".,?:;!\"()";
  return rewritten(text, [&](std::string& out, char32_t point) {
    if (kMarks.find(point) == std::u32string_view::npos && !(asian && is_asian_mark(point))) utf8_append(out, point);
  });
}

}  // namespace

Fields TerOptions::fields() {
  return {
      Field("normalized", normalized, "cut punctuation from words, as tercom does"),
      Field("no_punct", no_punct, "leave punctuation out"),
      Field("asian_support", asian_support, "the same for Chinese and Japanese, character by character"),
      Field("case_sensitive", case_sensitive, "tell large letters from small ones"),
  };
}

std::string ter_text(std::string_view text, const TerOptions& options) {
  std::string line = options.case_sensitive ? std::string(text) : text::lower(text);
  if (options.normalized) line = normalized_text(line, options.asian_support);
  if (options.no_punct) line = without_marks(line, options.asian_support);
  return join(split_words(line), " ");
}

}  // namespace heed

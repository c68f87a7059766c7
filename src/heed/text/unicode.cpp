#include "heed/text/unicode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "heed/text/unicode_tables.h"

namespace heed::text {
namespace {

constexpr std::size_t kPageSize = 256;

}  // namespace

namespace detail {

// Pages without any property share one; the others live as long as the process.
PropertyPages::PropertyPages() {
  static const std::array<Properties, kPageSize> empty{};
  static std::vector<std::unique_ptr<std::array<Properties, kPageSize>>> owned;
  std::vector<std::array<Properties, kPageSize>*> writable(std::size(pages_of), nullptr);
  const auto mark = [&](std::span<const CodeRange> ranges, Properties property) {
    for (const CodeRange& range : ranges) {
      for (char32_t point = range.first; point <= range.last; ++point) {
        auto*& page = writable[point / kPageSize];
        if (!page) page = owned.emplace_back(std::make_unique<std::array<Properties, kPageSize>>()).get();
        (*page)[point % kPageSize] |= property;
      }
    }
  };
  const UnicodeTables tables = unicode_tables();
  mark(tables.whitespace, kIsWhitespace);
  mark(tables.control, kIsControl);
  mark(tables.nonspacing_mark, kIsNonspacingMark);
  mark(tables.combining_mark, kIsCombiningMark);
  mark(tables.punctuation, kIsPunctuation);
  mark(tables.numeric, kIsNumeric);
  mark(tables.word, kIsWord);
  mark(tables.regex_letter, kIsRegexLetter);
  mark(tables.regex_number, kIsRegexNumber);
  mark(tables.decomposes, kIsDecomposed);
  for (std::size_t i = 0; i < writable.size(); ++i) pages_of[i] = writable[i] ? writable[i]->data() : empty.data();
}

const PropertyPages& property_pages() {
  static const PropertyPages pages;
  return pages;
}

}  // namespace detail

bool is_chinese(char32_t point) {
  return (point >= 0x4E00 && point <= 0x9FFF) || (point >= 0x3400 && point <= 0x4DBF) ||
         (point >= 0x20000 && point <= 0x2A6DF) || (point >= 0x2A700 && point <= 0x2B81F) ||
         (point >= 0x2B920 && point <= 0x2CEAF) || (point >= 0xF900 && point <= 0xFAFF) ||
         (point >= 0x2F800 && point <= 0x2FA1F);
}

char32_t lower_case(char32_t point) {
  if (point < 0x80) return point >= 'A' && point <= 'Z' ? point + 32 : point;
  if (point == 0x130) return 'i';
  static const std::span<const LowerRun> runs = unicode_tables().lower;
  auto run =
      std::upper_bound(runs.begin(), runs.end(), point, [](char32_t p, const LowerRun& r) { return p < r.first; });
  if (run == runs.begin()) return point;
  --run;
  if (point > run->last || (point - run->first) % run->step != 0) return point;
  return static_cast<char32_t>(static_cast<std::int32_t>(point) + run->delta);
}

bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) return false;
  }
  for (; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  }
  return true;
}

}  // namespace heed::text

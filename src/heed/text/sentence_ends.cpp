#include "heed/text/sentence_ends.h"

#include <algorithm>
#include <string>

#include "heed/text/abbreviations.h"
#include "heed/text/scripts.h"
#include "heed/text/sentence_blocks.h"

namespace heed::text {
namespace {

constexpr std::size_t kLongestWord = 40;  // bytes of what may be an abbreviation or a word that is looked up
constexpr int kMostOpeners = 8;           // dashes, quotes and brackets before the first letter of a sentence
constexpr char32_t kEllipsis = 0x2026;

bool is_stop(char32_t point) {
  return point == '.' || point == kEllipsis;
}

// Ends a sentence whatever follows.
bool is_wide_mark(char32_t point) {
  switch (point) {
    case 0x3002:
    case 0xFF01:
    case 0xFF0E:
    case 0xFF1F:
    case 0xFF61:  // CJK
    case 0x964:
    case 0x965:  // danda
    case 0x17D4:
    case 0x17D5:
    case 0x104B:
    case 0x1362:
    case 0x1367: return true;
    default: return false;
  }
}

bool is_closer(char32_t point, bool wide, bool in_quotes) {
  switch (point) {
    case ')':
    case ']':
    case '}':
    case 0x27:
    case '*':
    case '_':
    case 0x2019:
    case 0x201D:
    case 0xBB:
    case 0x203A:
    case 0x3009:
    case 0x300B:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0x3015:
    case 0x3017:
    case 0x301E:
    case 0xFF09:
    case 0xFF3D:
    case 0xFF5D: return true;
    // These close in some languages and open in others; after a CJK mark, where no space tells, they open.
    case 0xAB:
    case 0x2018:
    case 0x201C:
    case 0x2039: return !wide;
    case '"': return !wide || in_quotes;
    default: return false;
  }
}

bool is_opener(char32_t point) {
  switch (point) {
    case '(':
    case '[':
    case '{':
    case 0x27:
    case '"':
    case '-':
    case '*':
    case '_':
    case 0xA1:
    case 0xAB:
    case 0xBB:
    case 0xBF:
    case 0x2013:
    case 0x2014:
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x2039:
    case 0x203A:
    case 0x3008:
    case 0x300A:
    case 0x300C:
    case 0x300E:
    case 0x3010:
    case 0xFF08: return true;
    default: return false;
  }
}

bool is_comma(char32_t point) {
  return point == ',' || point == 0x3001 || point == 0xFF0C || point == 0x60C;
}

bool is_digit(char32_t point) {
  return point >= '0' && point <= '9';
}

bool is_number(std::string_view word) {
  return !word.empty() && word.size() <= 3 && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

std::string in_small_letters(std::string_view word) {
  std::string small;
  for (const CodePoint& point : Utf8View(word)) append_point(small, lower_case(point.value));
  return small;
}

// One letter, or letters with full stops between: "J", "U.S", "z.B".
bool is_initials(std::string_view word) {
  bool letter = false;
  for (const CodePoint& point : Utf8View(word)) {
    const bool stop = point.value == '.';
    if (stop == !letter) return false;
    if (!stop && script_of(point.value) == Script::none) return false;
    letter = !stop;
  }
  return letter;
}

}  // namespace

bool is_end_mark(char32_t point) {
  switch (point) {
    case '.':
    case '!':
    case '?':
    case kEllipsis:
    case 0x203C:
    case 0x203D:
    case 0x2047:
    case 0x2048:
    case 0x2049:
    case ';':
    case 0x37E:  // Greek questions
    case 0x589:  // Armenian
    case 0x61F:
    case 0x6D4:
    case 0x700:
    case 0x701:
    case 0x702: return true;
    default: return is_wide_mark(point);
  }
}

EndMarks SentenceEnds::marks_at(std::size_t at, bool in_quotes) const {
  EndMarks marks{.begin = at};
  std::size_t count = 0;
  while (at < text_.size()) {
    const CodePoint point = utf8_decode(text_, at);
    if (!is_end_mark(point.value)) break;
    marks.stops = marks.stops && is_stop(point.value);
    marks.wide = marks.wide || is_wide_mark(point.value);
    marks.ellipsis = marks.ellipsis || point.value == kEllipsis;
    ++count;
    at += point.length;
  }
  marks.ellipsis = marks.ellipsis || (marks.stops && count > 1);
  marks.marks_end = at;
  while (at < text_.size()) {
    const CodePoint point = utf8_decode(text_, at);
    if (!is_closer(point.value, marks.wide, in_quotes)) {
      // The number of a note: "so it was.[3] Later"
      if (point.value != '[' || !is_digit(at + 1 < text_.size() ? static_cast<unsigned char>(text_[at + 1]) : 0U))
        break;
      const std::size_t close = text_.substr(at, kLongestWord).find_first_not_of("0123456789, ", 1);
      if (close == std::string_view::npos || text_[at + close] != ']') break;
      at += close;
      continue;
    }
    if (point.value == '"') in_quotes = false;
    at += point.length;
  }
  marks.end = spaced_closer(at);
  return marks;
}

// Past a » that has a space before it and one after it, as in French.
std::size_t SentenceEnds::spaced_closer(std::size_t at) const {
  if (at == text_.size()) return at;
  const CodePoint space = utf8_decode(text_, at);
  const std::size_t quote = at + space.length;
  if (!is_space(space.value) || !text_.substr(quote).starts_with("»")) return at;
  const std::size_t after = quote + 2;
  return after == text_.size() || is_space(utf8_decode(text_, after).value) ? after : at;
}

// Past spaces, quotes, brackets and dashes.
std::size_t SentenceEnds::next_letter(std::size_t at) const {
  for (int openers = 0; at < text_.size();) {
    const CodePoint point = utf8_decode(text_, at);
    if (!is_space(point.value) && (!is_opener(point.value) || ++openers > kMostOpeners)) break;
    at += point.length;
  }
  return at;
}

// Letters from `at` on.
std::string_view SentenceEnds::word_at(std::size_t at) const {
  std::size_t end = at;
  while (end < text_.size() && end - at < kLongestWord) {
    const CodePoint point = utf8_decode(text_, end);
    if (script_of(point.value) == Script::none) break;
    end += point.length;
  }
  return text_.substr(at, end - at);
}

// What stands before `end`, back to a space, quote, bracket or a script without spaces; empty if that is too long.
std::string_view SentenceEnds::word_before(std::size_t end, std::size_t begin) const {
  std::size_t at = end;
  while (at > begin) {
    const CodePoint point = point_before(text_, at);
    const char32_t value = point.value;
    const bool part_of_word = value == '-' || !(is_space(value) || is_opener(value) || is_closer(value, false, true) ||
                                                value == '/' || is_written_without_spaces(value));
    if (!part_of_word) break;
    at = point.offset;
    if (end - at > kLongestWord) return {};
  }
  return text_.substr(at, end - at);
}

bool SentenceEnds::ends_at(const EndMarks& marks, std::size_t begin) const {
  const CodePoint after = utf8_decode(text_, marks.end);
  const CodePoint before = marks.begin > begin ? point_before(text_, marks.begin) : CodePoint();
  const CodePoint mark = utf8_decode(text_, marks.begin);
  if (is_comma(after.value)) return false;
  if (marks.wide) {
    // 「…。」と: what was said is part of what says so.
    return !(marks.closes() && (after.value == U'と' || after.value == U'っ' || after.value == U'の'));
  }
  if (mark.value == ';' && script_of(before.value) != Script::greek) return false;
  if (!is_space(after.value)) {
    const bool unspaced = is_written_without_spaces(before.value) && is_written_without_spaces(after.value);
    return unspaced && !marks.ellipsis;
  }
  const std::size_t next = next_letter(marks.end);
  if (next == text_.size()) return true;
  const bool small = is_lower_case(utf8_decode(text_, next).value);
  // Who begins sentences with small letters does so here too.
  const bool begins_small = is_lower_case(utf8_decode(text_, begin).value);
  if (!marks.stops)
    return !small ||
           (!marks.closes() && (begins_small || text_.substr(marks.begin, marks.marks_end - marks.begin) != "!"));
  if (small && (marks.ellipsis || !begins_small)) return false;
  return marks.ellipsis || stop_ends(marks, begin, next);
}

// One full stop, and after it something that may begin a sentence.
bool SentenceEnds::stop_ends(const EndMarks& marks, std::size_t begin, std::size_t next) const {
  const std::string_view word = word_before(marks.begin, begin);
  if (word.empty()) return true;
  const auto word_begin = static_cast<std::size_t>(word.data() - text_.data());
  const bool number_next = is_digit(utf8_decode(text_, next).value);
  const std::string_view next_word = word_at(next);
  if (is_number(word)) {
    if (follows_ordinal(next_word)) return false;
    if (language_ != "de" || word_begin <= begin + 1) return true;
    const std::string small = in_small_letters(word_before(trimmed(text_, begin, word_begin).end, begin));
    constexpr std::string_view kBefore[] = {"am", "der", "die", "das", "dem", "den", "des", "im", "vom", "zum", "zur"};
    return std::ranges::find(kBefore, small) == std::end(kBefore);
  }
  // "z. B." is looked up as z.b, "Chr." after "v." as v.chr.
  std::string name = in_small_letters(word);
  Abbreviation kind = abbreviation(name, language_);
  const std::size_t before = trimmed(text_, begin, word_begin).end;
  if (before > begin && before < word_begin && text_[before - 1] == '.') {
    const std::string_view first = word_before(before - 1, begin);
    if (first.size() <= 6 && is_initials(first)) {
      const Abbreviation both = abbreviation(in_small_letters(first) + "." + name, language_);
      if (both != Abbreviation::none) kind = both;
    }
  }
  switch (kind) {
    case Abbreviation::inside: return false;
    case Abbreviation::before_number:
      if (number_next) return false;
      break;
    case Abbreviation::anywhere: {
      const char32_t first = utf8_decode(text_, trimmed(text_, marks.end, text_.size()).begin).value;
      return first != '(' && !is_lower_case(first);
    }
    case Abbreviation::none: break;
  }
  return !is_initials(word) || (word == "I" && language_ != "de") || begins_sentences(next_word);
}

}  // namespace heed::text

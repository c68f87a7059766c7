#include "heed/text/sentence_blocks.h"

#include <algorithm>

#include "heed/text/abbreviations.h"
#include "heed/text/scripts.h"

namespace heed::text {
namespace {

// A line that was wrapped is this wide at least, and the widest of its paragraph not wider than that; in columns, of
// which Chinese and Japanese characters take two.
constexpr std::size_t kLeastWrapped = 40, kMostWrapped = 100;
constexpr std::size_t kMostLabel = 32;  // bytes of "Name:" at the beginning of a line of a dialogue

struct Line {
  std::size_t begin = 0, end = 0;  // without spaces around and without what marks it as an item
  std::size_t columns = 0;
  std::size_t first_word = 0;  // columns
  bool stands_alone = false;   // a heading
  bool is_item = false;        // does not continue the line before it
};

bool is_line_break(char32_t point) {
  return (point >= '\n' && point <= '\r') || point == 0x2028 || point == 0x2029;
}

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool is_bullet(char32_t point) {
  switch (point) {
    case '-':
    case '*':
    case '+':
    case '#':
    case '>':
    case 0xB7:
    case 0x2010:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2022:
    case 0x2023:
    case 0x2043:
    case 0x25AA:
    case 0x25CB:
    case 0x25CF:
    case 0x25E6: return true;
    default: return false;
  }
}

// "1.", "12)", "a)", "(iv)", "3、": bytes of the number of a list item that the line begins with, or 0.
std::size_t item_number(std::string_view line) {
  const bool bracket = line.starts_with('(');
  std::size_t at = bracket ? 1 : 0;
  const std::size_t begin = at;
  while (at < line.size() && at - begin < 3 && is_digit(line[at])) ++at;
  const bool number = at > begin;
  while (!number && at < line.size() && at - begin < (bracket ? 4U : 1U) && line[at] >= 'a' && line[at] <= 'z') ++at;
  if (at == begin || at == line.size()) return 0;
  if (line[at] == ')' || (number && !bracket && line[at] == '.')) return at + 1;
  return number && !bracket && line.substr(at).starts_with("、") ? at + 3 : 0;
}

// Bytes of the bullets, number or heading mark that the line begins with, spaces included; 0 if nothing is after them.
std::size_t marker_length(std::string_view line) {
  std::size_t at = 0;
  const auto skip_spaces = [&] {
    const std::size_t before = at;
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
    return at > before;
  };
  for (std::size_t bullets = at; at < line.size();) {
    const CodePoint point = utf8_decode(line, at);
    if (is_bullet(point.value)) {
      at += point.length;
    } else if (at == bullets || !skip_spaces()) {
      at = bullets;
      break;
    } else {
      bullets = at;
    }
  }
  if (at == line.size()) return 0;
  const std::size_t number = item_number(line.substr(at));
  if (number == 0) return at;
  const std::size_t bullets = at;
  at += number;
  if (!skip_spaces() && line[at - 1] != '\x81') return bullets;  // the last byte of 、
  if (at == line.size()) return bullets;
  const std::size_t word_end = std::min(line.find_first_of(" \t", at), line.size());
  return follows_ordinal(line.substr(at, word_end - at)) ? bullets : at;
}

// "====": nothing that is said.
bool is_rule(std::string_view line) {
  return line.size() >= 3 && line.find_first_not_of("-=_*~+|# ") == std::string_view::npos;
}

// "Name: ", as lines of a dialogue begin.
bool has_label(std::string_view line) {
  const std::size_t colon = line.substr(0, kMostLabel).find(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  return !is_lower_case(utf8_decode(line, 0).value) && std::ranges::count(line.substr(0, colon), ' ') < 4;
}

Line line_of(std::string_view document, ByteRange range) {
  Line line{.begin = range.begin, .end = range.end};
  const std::string_view whole = document.substr(range.begin, range.end - range.begin);
  if (is_rule(whole)) {
    line.begin = line.end;
    return line;
  }
  const std::size_t marker = marker_length(whole);
  line.stands_alone = marker > 0 && whole[0] == '#';
  line.is_item = marker > 0 || has_label(whole);
  line.begin += marker;
  bool in_first = true;
  for (std::size_t at = 0; at < whole.size();) {
    const CodePoint point = utf8_decode(whole, at);
    const bool wide = is_written_without_spaces(point.value);
    if (in_first && (is_space(point.value) || (wide && at > 0))) in_first = false;
    line.columns += wide ? 2 : 1;
    if (in_first) line.first_word = line.columns;
    at += point.length;
  }
  return line;
}

bool was_wrapped(const Line& line, const Line& next, std::size_t widest) {
  if (line.stands_alone || next.stands_alone || next.is_item || widest > kMostWrapped) return false;
  return line.columns >= kLeastWrapped && line.columns + 1 + next.first_word > widest;
}

void add_blocks(const std::vector<Line>& lines, std::size_t paragraph, std::vector<TextBlock>& blocks) {
  std::size_t widest = 0;
  for (const Line& line : lines) widest = std::max(widest, line.columns);
  const Line* last = nullptr;  // to which the next one may belong
  for (const Line& line : lines) {
    if (line.begin == line.end) {
      last = nullptr;
      continue;
    }
    if (last && was_wrapped(*last, line, widest)) {
      blocks.back().end = line.end;
    } else {
      blocks.push_back({line.begin, line.end, paragraph});
    }
    last = &line;
  }
}

}  // namespace

CodePoint point_before(std::string_view text, std::size_t offset) {
  for (std::size_t length = 1; length <= 4 && length <= offset; ++length) {
    if (is_continuation(text[offset - length])) continue;
    const CodePoint point = utf8_decode(text, offset - length);
    if (point.length == length) return point;
    break;
  }
  return {kReplacementCharacter, offset - 1, 1, false};
}

ByteRange trimmed(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view before_end = text.substr(0, end);
  while (begin < end) {
    const CodePoint point = utf8_decode(before_end, begin);
    if (!is_space(point.value)) break;
    begin += point.length;
  }
  while (begin < end) {
    const CodePoint point = point_before(text, end);
    if (!is_space(point.value)) break;
    end -= point.length;
  }
  return {begin, end};
}

std::vector<TextBlock> text_blocks(std::string_view document) {
  std::vector<TextBlock> blocks;
  std::vector<Line> lines;  // of one paragraph
  std::size_t paragraph = 0;
  const auto finish_paragraph = [&] {
    const std::size_t before = blocks.size();
    add_blocks(lines, paragraph, blocks);
    if (blocks.size() > before) ++paragraph;
    lines.clear();
  };
  for (std::size_t begin = 0; begin < document.size();) {
    std::size_t end = begin, after = begin;
    while (after < document.size()) {
      const CodePoint point = utf8_decode(document, after);
      after += point.length;
      if (is_line_break(point.value)) break;
      end = after;
    }
    if (after < document.size() && document[after - 1] == '\r' && document[after] == '\n') ++after;
    const ByteRange line = trimmed(document, begin, end);
    if (line.begin == line.end) {
      finish_paragraph();
    } else {
      lines.push_back(line_of(document, line));
    }
    begin = after;
  }
  finish_paragraph();
  return blocks;
}

}  // namespace heed::text

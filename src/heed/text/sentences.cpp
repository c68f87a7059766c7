#include "heed/text/sentences.h"

#include "heed/base/error.h"
#include "heed/text/scripts.h"
#include "heed/text/sentence_blocks.h"
#include "heed/text/sentence_ends.h"

namespace heed::text {
namespace {

void split_block(std::string_view document, const TextBlock& block, std::string_view language,
                 std::vector<Sentence>& sentences) {
  const SentenceEnds ends(document, block.end, language);
  std::size_t begin = block.begin;
  bool in_quotes = false;
  for (std::size_t at = begin; at < block.end;) {
    const CodePoint point = utf8_decode(document, at);
    if (point.value == '"') in_quotes = !in_quotes;
    if (!is_end_mark(point.value)) {
      at += point.length;
      continue;
    }
    const EndMarks marks = ends.marks_at(at, in_quotes);
    for (std::size_t i = marks.marks_end; i < marks.end; ++i) in_quotes = in_quotes != (document[i] == '"');
    at = marks.end;
    if (at == block.end || !ends.ends_at(marks, begin)) continue;
    sentences.push_back({begin, at, block.paragraph});
    begin = at = trimmed(document, at, block.end).begin;
  }
  if (begin < block.end) sentences.push_back({begin, block.end, block.paragraph});
}

// How good a place before the character `next` is, after the character `last`.
int cut_rank(char32_t last, char32_t next) {
  const bool unspaced = is_written_without_spaces(last);
  const bool before_space = is_space(next) || unspaced;
  switch (last) {
    case ';':
    case ':':
    case 0xFF1B:
    case 0xFF1A:
    case 0x61B:
    case 0x3002: return before_space ? 4 : 0;
    case ',':
    case 0x3001:
    case 0xFF0C:
    case 0x60C: return before_space ? 3 : 0;
    default: return is_space(last) ? 2 : unspaced ? 1 : 0;
  }
}

// The best cut in the middle third, else near it; 0 if there is none: the text is one character.
std::size_t best_cut(std::string_view text) {
  const std::size_t middle = text.size() / 2, first = text.size() / 3, last = text.size() - first;
  std::size_t best = 0;
  int best_rank = -1;
  const auto distance = [&](std::size_t at) { return at < middle ? middle - at : at - middle; };
  std::size_t at = first;
  while (at > 0 && at < text.size() && is_continuation(text[at]) && first - at < 4) --at;
  while (at < text.size()) {
    const CodePoint last_point = utf8_decode(text, at);
    at += last_point.length;
    if (at >= text.size() || (at > last && best > 0)) break;
    const CodePoint next = utf8_decode(text, at);
    if (PropertyTable().has(next.value, kIsCombiningMark) || next.value == 0x200D) continue;
    const int rank = cut_rank(last_point.value, next.value);
    if (rank > best_rank || (rank == best_rank && distance(at) < distance(best))) best = at, best_rank = rank;
  }
  if (best > 0) return best;
  // Nothing but marks from there on.
  at = middle;
  while (at > 0 && is_continuation(text[at]) && middle - at < 4) --at;
  if (at == 0) at = text.empty() ? 0 : utf8_decode(text, 0).length;
  return at < text.size() ? at : 0;
}

}  // namespace

std::vector<Sentence> split_sentences(std::string_view document, std::string_view language) {
  std::vector<Sentence> sentences;
  for (const TextBlock& block : text_blocks(document)) split_block(document, block, language, sentences);
  return sentences;
}

std::string_view space_between(std::string_view left, std::string_view right) {
  if (left.empty() || right.empty()) return "";
  const bool unspaced = is_written_without_spaces(point_before(left, left.size()).value) &&
                        is_written_without_spaces(utf8_decode(right, 0).value);
  return unspaced ? "" : " ";
}

std::string join_sentences(std::string_view document, std::span<const Sentence> sentences,
                           std::span<const std::string> texts) {
  HEED_CHECK(texts.size() == sentences.size(), "[join_sentences] ", texts.size(), " texts for ", sentences.size(),
             " sentences");
  std::string joined;
  std::size_t at = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::string_view gap = document.substr(at, sentences[i].begin - at);
    const bool changed =
        i > 0 && (texts[i - 1] != sentences[i - 1].of(document) || texts[i] != sentences[i].of(document));
    joined += changed && (gap.empty() || gap == " ") ? space_between(texts[i - 1], texts[i]) : gap;
    joined += texts[i];
    at = sentences[i].end;
  }
  return joined.append(document.substr(at));
}

std::vector<std::string_view> cut_text(std::string_view text, std::size_t limit,
                                       const std::function<std::size_t(std::string_view)>& measure) {
  std::vector<std::string_view> pieces, open = {text};  // open: the first one last
  while (!open.empty()) {
    const std::string_view piece = open.back();
    open.pop_back();
    const std::size_t cut = measure(piece) <= limit ? 0 : best_cut(piece);
    if (cut == 0) {
      pieces.push_back(piece);
    } else {
      open.push_back(piece.substr(cut));
      open.push_back(piece.substr(0, cut));
    }
  }
  return pieces;
}

}  // namespace heed::text

// Tags and entities of HTML and XML in a text that is translated: taken out before, put back after, every tag once,
// with its attributes as they were, well nested, around the words that stand for those it was around.
//
//   const StrippedText stripped = strip_markup("Press <b>Save</b> now.");   // "Press Save now.", <b> around bytes 6 to
//   10 restore_markup(stripped, {stripped.text, "Jetzt Speichern drücken.", ...words, alignment});
//                                                                           // "Jetzt <b>Speichern</b> drücken."
// Placeholders, addresses and numbers stay in the text: protected_parts.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/aligned_text.h"

namespace heed::text {

// A pair of tags around bytes of the text, or a single tag before byte `begin`. A closing tag without an opening one,
// or an opening one without a closing one, is single.
struct MarkupSpan {
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

  std::string open{}, close{};  // as they were; close is empty for a single tag
  std::size_t begin = 0, end = 0;
  std::size_t parent = kNoParent;  // the number of the innermost pair around it
  // Of single tags and of pairs around nothing: whether there was space around it. Of two spaces the text has one;
  // where it has one and there was none, because a tag such as <br> keeps words apart by itself, `stands_for_space`.
  bool space_before = false, space_after = false, stands_for_space = false;

  bool is_pair() const { return !close.empty(); }
  bool is_empty() const { return begin == end; }
};

struct StrippedText {
  std::string text;               // without tags, with characters for the entities that entity_at() knows
  std::vector<MarkupSpan> spans;  // by where they were
  // How characters are to be written: as the entity that stood for them, and < and & as entities in a text with markup
  // that has them nowhere by themselves.
  std::vector<std::pair<char32_t, std::string>> escapes;
};

// Of any bytes, in linear time; what looks like a tag or entity and is none is text.
StrippedText strip_markup(std::string_view source);

// The target with the tags. `words.source` is `stripped.text`. A pair goes around the run of target words that are most
// of them linked to words in the pair and least of them to others; a pair without such words, and a single tag, goes
// where the nearest word with a link is. Throws invalid_argument for another source and AlignedText::check().
std::string restore_markup(const StrippedText& stripped, const AlignedText& words);

}  // namespace heed::text

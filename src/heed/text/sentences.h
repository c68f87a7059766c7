// Documents as sentences. What lies between sentences (spaces, line breaks, bullets and numbers of lists) is left where
// it is, so that a document can be put together again from its sentences or from others in their place.
//
// A blank line ends a paragraph. A line break ends a sentence unless the line is full: then the text was wrapped. The
// rules know the marks of Latin, Cyrillic, Greek, Armenian, Arabic, Indic, Ethiopic, Burmese, Khmer and CJK scripts,
// abbreviations of the languages in abbreviations.cpp, initials, numbers, ellipses, and quotes and brackets after the
// mark. A full stop before a small letter ends nothing. Any bytes will do: what is not UTF-8 is text like any other.
// The time is linear in the bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

// Bytes begin to end of a document, without the spaces around them; never empty. Line breaks may be inside.
struct Sentence {
  std::size_t begin = 0, end = 0;
  std::size_t paragraph = 0;  // counted from 0
  std::string_view of(std::string_view document) const { return document.substr(begin, end - begin); }
};

// In their order, not overlapping. `language` is a code such as "de", of abbreviations and ordinal numbers; "": not
// known, and those of all languages count.
std::vector<Sentence> split_sentences(std::string_view document, std::string_view language = {});

// The document with texts[i] in the place of sentence i; the sentences' own texts give the document byte for byte.
// Where other texts meet, no space is left between two that are written without, and one is put between two that need
// it. Throws invalid_argument unless there is one text per sentence.
std::string join_sentences(std::string_view document, std::span<const Sentence> sentences,
                           std::span<const std::string> texts);

// What goes between two sentences on one line: a space, or nothing in Chinese and Japanese.
std::string_view space_between(std::string_view left, std::string_view right);

// The text in pieces that measure at most `limit`, in order and with nothing left out; a text within the limit is one
// piece. Cuts are after a semicolon or a colon, else after a comma, else at a space, else between characters, near the
// middle of what is too long. Pieces of one character may measure more. `measure` is asked O(n log n) bytes in all.
std::vector<std::string_view> cut_text(std::string_view text, std::size_t limit,
                                       const std::function<std::size_t(std::string_view)>& measure);

}  // namespace heed::text

// Words that end in a full stop without ending a sentence.
#pragma once

#include <string_view>

namespace heed::text {

enum class Abbreviation {
  none,
  inside,         // something belongs to it: "Mr.", "z. B."
  before_number,  // "No. 5", but "No. Never."
  anywhere,       // may also be a sentence's last word: "etc.", "p.m."
};

// `word` in small letters, without its last full stop; parts that had a space between are joined by a full stop alone
// ("z.b"). `language` is a code such as "de"; "" is all of them.
Abbreviation abbreviation(std::string_view word, std::string_view language);

// A word that often begins a sentence and is rarely a name: "The". In what script and case it is written counts.
bool begins_sentences(std::string_view word);
// A German noun that an ordinal number goes before: "Mai", "Jahrhundert".
bool follows_ordinal(std::string_view word);

}  // namespace heed::text

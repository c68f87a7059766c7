// Labels of words that somebody has split already.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

// Words with spaces between, and where each is, in bytes.
struct JoinedWords {
  std::string text;
  std::vector<text::Span> places;
};
JoinedWords join_words(const std::vector<std::string>& words);

// For each token the number of the word that it is in, the first of several; nothing for tokens that are in none.
std::vector<std::optional<std::size_t>> word_of_tokens(const text::Encoding& encoding,
                                                       const std::vector<text::Span>& places);
// The other way: the first token of each word that is in this encoding; nothing for words that have none.
std::vector<std::optional<std::size_t>> first_token_of_words(const text::Encoding& encoding,
                                                             const std::vector<text::Span>& places);

// Of a word that no token speaks for: "O", or the first label if there is no "O".
const std::string& label_of_nothing(const std::vector<std::string>& labels);

// For each sentence a label a word: the best one of the word's first token. Long sentences are read in windows that
// share a quarter of their tokens; a word counts in the first that has it. A word without tokens (a space, say) gets
// label_of_nothing().
std::vector<std::vector<std::string>> tag_words(const TextModel& model,
                                                const std::vector<std::vector<std::string>>& sentences);

}  // namespace heed

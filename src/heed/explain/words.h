// The tokens of a text as words: what a reader sees, and what scores of tokens are merged to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

// Tokens first .. first + count that the tokenizer made of one word; a special token is a word of its own.
struct TextWord {
  std::size_t first = 0, count = 1;
  std::string text{};  // as it stands in the text
  bool special = false;
};

// One sequence as the model reads it.
struct ReadText {
  text::Encoding encoding{};
  std::vector<std::string> tokens{};
  std::vector<TextWord> words{};
};

// The encoding, made by the model's tokenizer of `input`, with its tokens and words.
ReadText read_text(const TextModel& model, const TextInput& input, text::Encoding encoding);
// Encoded and cut as the model does it.
ReadText read_text(const TextModel& model, const TextInput& input);

// One sum a word.
std::vector<double> sums_of_words(std::span<const double> tokens, std::span<const TextWord> words);

}  // namespace heed

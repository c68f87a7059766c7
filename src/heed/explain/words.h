// The tokens of a text as words: what a reader sees, and what scores of tokens are merged to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tasks/classify.h"
#include "heed/tasks/run_task.h"

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
  bool cut = false;  // the text goes on, and the model reads no more of it
};

// Encoded and cut as the model does it; at `max_tokens`, if they are not 0.
ReadText read_text(const LoadedModel& model, const TextInput& input, std::size_t max_tokens = 0);

// Tokens of a language model as they stand in a text: " the", not "Ġthe". A token that begins with a letter goes on
// with the word before it.
ReadText read_tokens(const LoadedModel& model, std::span<const std::int32_t> ids);
std::string token_text(const text::Tokenizer& tokenizer, std::int32_t id);

// One sum per word.
std::vector<double> sums_of_words(std::span<const double> tokens, std::span<const TextWord> words);

}  // namespace heed

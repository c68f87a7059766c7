// Language modelling: how probable a text is, token by token, each given those before it. Long texts are read in
// windows that share tokens, and every token counts once.
//
// Of a conversation, which the chat template renders, only the answers count, with the token that ends each; of a
// prompt with its completion (Row::text and pair) only the completion. Both are cut where they are too long.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct LmOptions {
  bool tokens = false;
  bool end_of_text = true;
  std::int64_t stride = 0;
  Fields fields();
};

struct TokenScore {
  std::size_t place = 0;  // of the token in its text
  std::int32_t token = 0;
  std::string text{};
  double log_probability = 0;  // natural logarithm
};

struct TextScore {
  double log_probability = 0;  // the sum over all tokens but the first, which nothing comes before
  std::size_t tokens = 0;      // that count
  std::size_t characters = 0;  // of these tokens
  std::vector<TokenScore> list{};

  double perplexity() const;          // per token
  double bits_per_character() const;  // not a number for a text whose tokens have no characters
};

std::vector<TextScore> score_texts(const LoadedModel& model, const std::vector<std::string>& texts,
                                   std::int64_t stride = 0);

const Task& lm_task();

}  // namespace heed

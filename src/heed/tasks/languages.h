// Languages of models that translate between several: tokens of their vocabularies, or words before the text.
//
//   "__de__" (M2M-100), "de_DE" (mBART), "deu_Latn" (NLLB)    special tokens, of source and target
//   ">>deu<<" (Marian)                                        begins a source and names the target's language
//   "translate English to German: " (T5)                      by config.json's task_specific_params
#pragma once

#include <optional>
#include <string>

#include "heed/tasks/task.h"

namespace heed {

struct Direction {
  std::optional<std::int32_t> source{}, target{};  // tokens of the languages
  std::string prefix{};                            // of the source's text
};

// "" stands for the language that the model has by itself. Throws invalid_argument, with the known codes, for one that
// it does not have.
Direction translation_direction(const TaskSetup& setup, const std::string& from, const std::string& to);

// Whether the token is the code of a language.
bool is_language(const text::Tokenizer& tokenizer, std::int32_t id);

}  // namespace heed

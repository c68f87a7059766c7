// Labels of words: named entities, parts of speech. For a plain text entities with their places, for words that are
// split already a label per word.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/entities.h"
#include "heed/tasks/loaded_model.h"

namespace heed {

struct TagOptions {
  std::string aggregation = "simple";
  // Texts longer than the model's sequences are read in windows that share this many tokens; -1: a quarter of them.
  std::int64_t stride = -1;
  std::vector<std::string> ignored{"O"};  // labels that are not reported
  std::string metric{};
  bool all_tokens = false;
  std::string scheme = "conll";
  std::int64_t digits = 4;
  Fields fields();
};

std::vector<std::vector<Entity>> tag(const LoadedModel& model, const std::vector<std::string>& texts,
                                     const TagOptions& options = {});

// For each sentence a label per word: the best one of the word's first token, in the first window that has it. A word
// without tokens (a space, say) gets "O", or the first label if there is no "O".
std::vector<std::vector<std::string>> tag_words(const LoadedModel& model,
                                                const std::vector<std::vector<std::string>>& sentences);

const Task& tag_task();

}  // namespace heed

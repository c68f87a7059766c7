// A text as one vector, and how alike texts are by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

// What is not set is as the folder says (sentence-transformers' modules.json), else mean, not normalised.
struct EmbedOptions {
  std::optional<SentenceEmbedding::Pooling> pooling{};
  std::optional<bool> normalize{};      // to length 1
  std::optional<std::string> prompt{};  // the name of one of the folder's prompts; "": none
};

// "cls", "mean" or "max"; throws invalid_argument for another.
SentenceEmbedding::Pooling pooling_named(std::string_view name);

// [texts, C]. Texts that are too long are cut. A prompt's tokens are left out of mean and max if the folder says so
// (include_prompt); a text of nothing else is zeros then.
Tensor embed(const TextModel& model, const std::vector<std::string>& texts, const EmbedOptions& options = {});

// The cosine between `source` and each of the texts.
std::vector<float> similarity(const TextModel& model, const std::string& source, const std::vector<std::string>& texts,
                              const EmbedOptions& options = {});

}  // namespace heed

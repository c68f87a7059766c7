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

// The options with what the folder says filled in.
struct EmbedPlan {
  SentenceEmbedding::Pooling pooling = SentenceEmbedding::Pooling::mean;
  bool normalize = false;
  std::string prompt{};        // put before each text
  bool pools_prompt = true;    // mean and max see its tokens too
  std::size_t max_tokens = 0;  // of prompt and text
};
EmbedPlan embed_plan(const TextModel& model, const EmbedOptions& options);
// One row a text: hidden [N, C] to [B, C].
Tensor pool_texts(const Tensor& hidden, const Offsets& offsets, SentenceEmbedding::Pooling pooling);

// <a, b>, summed in f64.
double dot(const float* a, const float* b, std::int64_t size);

// [texts, C]. Texts that are too long are cut. A prompt's tokens are left out of mean and max if the folder says so
// (include_prompt); a text of nothing else is zeros then.
Tensor embed(const TextModel& model, const std::vector<std::string>& texts, const EmbedOptions& options = {});

// The cosine between `source` and each of the texts.
std::vector<float> similarity(const TextModel& model, const std::string& source, const std::vector<std::string>& texts,
                              const EmbedOptions& options = {});

}  // namespace heed

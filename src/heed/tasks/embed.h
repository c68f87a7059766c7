// A text as one vector. Learned from pairs: contrastive, the second text of a pair is to be nearer to the first than
// the second texts of all other pairs of the batch; or cosine, the cosine of the two is to be the score.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"
#include "heed/tensor/tensor.h"

namespace heed {

// What is not set is as the folder says (sentence-transformers' modules.json), else mean, not normalised.
struct EmbedOptions {
  std::string pooling{};                // "cls", "mean" or "max"
  std::optional<bool> normalize{};      // to length 1
  std::optional<std::string> prompt{};  // the name of one of the folder's prompts; "": none
  std::string loss{};
  double scale = 20, score_range = 5;
  Fields fields();
};

// <a, b>, summed in f64, and that by the lengths of both.
double dot(std::span<const float> a, std::span<const float> b);
double cosine(std::span<const float> a, std::span<const float> b);

// [texts, C]. Texts that are too long are cut. A prompt's tokens are left out of mean and max if the folder says so
// (include_prompt); a text of nothing else is zeros then.
Tensor embed(const LoadedModel& model, const std::vector<std::string>& texts, const EmbedOptions& options = {});

const Task& embed_task();

}  // namespace heed

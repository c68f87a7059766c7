// How alike texts are: the cosines between the vector of one and those of others.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/embed.h"

namespace heed {

struct SimilarityOptions {
  std::string pooling{};  // as EmbedOptions
  std::optional<std::string> prompt{};
  Fields fields();
};

// The cosine between `source` and each of the texts.
std::vector<float> similarity(const LoadedModel& model, const std::string& source,
                              const std::vector<std::string>& texts, const SimilarityOptions& options = {});

const Task& similarity_task();

}  // namespace heed

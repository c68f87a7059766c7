// How the hidden states of a text become its vector.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/embed.h"
#include "heed/tasks/task.h"

namespace heed {

// The options with what the folder says filled in.
struct EmbedPlan {
  EmbedPlan(const TaskSetup& setup, const EmbedOptions& options);

  SentenceEmbedding::Pooling pooling = SentenceEmbedding::Pooling::mean;
  bool normalize = false;
  std::string prompt{};             // put before each text
  std::int64_t skipped_tokens = 0;  // at the beginning of each text: of a prompt that is not pooled
  std::size_t max_tokens = 0;       // of prompt and text

  // One row per text: hidden [N, C] to [B, C].
  Tensor pool(const Tensor& hidden, const Offsets& offsets) const;
  // A row of pool(), of length 1 if that is wanted; zeros stay zeros.
  std::vector<float> finished(std::span<const float> row) const;
};
std::string_view to_string(SentenceEmbedding::Pooling pooling);
// Whether a text alone has hidden states: what a model makes of a source depends on what is written about it.
bool has_hidden_states(const Model& model);

// Options of every task that makes vectors.
Field pooling_field(std::string& pooling);
Field prompt_field(std::optional<std::string>& prompt);

}  // namespace heed

// All that can be shown of how a model read one text: attention; for classifiers what changes the score; for language
// models what was expected at each place.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "heed/explain/attention.h"
#include "heed/explain/attribution.h"
#include "heed/explain/expected_tokens.h"
#include "heed/explain/packed.h"
#include "heed/tasks/classify.h"

namespace heed {

struct LookOptions {
  bool maps = true;  // whole maps of the heads, for a page
  // (layer, head) to carry in full where texts are too long for that to be done for all.
  std::vector<std::pair<std::int64_t, std::int64_t>> full{};
  IntegratedGradientsOptions gradients{};
  std::size_t labels = 5;  // of a classifier, the best, whose evidence is computed; each costs as much as the first
  // What a language model is to write after the text before it is looked at, by options of docs/generation.md as JSON;
  // "": nothing.
  std::string generation{};
  std::size_t alternatives = 5;  // of a language model, the likeliest tokens of each place
};

// What the logit of one label rests on.
struct LabelEvidence {
  std::string label{};
  Attribution gradients{};
  Occlusion occlusion{};
};

// All labels with their scores; what the first of them, the best, rests on, and those that follow it.
struct ClassifierEvidence {
  std::vector<LabelScore> labels{};
  Attribution gradients{};
  Occlusion occlusion{};
  std::vector<LabelEvidence> others{};
};

struct Look {
  ReadText text{};
  TextAttention attention{};
  std::vector<std::string> maps{};  // packed, of every head, layer by layer; empty if not asked for
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> full{};
  std::vector<double>
      rollout{};  // to the first token, of language models the last; empty for texts above kMostExplained tokens
  std::optional<ClassifierEvidence> evidence{};  // of classifiers; not for texts above kMostExplained tokens
  std::size_t written_from = 0;                  // the first token that the model wrote itself; 0: it wrote none
  std::vector<ExpectedToken> expected{};  // of language models, from the second token on; the last kMostExplained
};

// Occlusion and roll-out take time that grows with the square and the cube of the length.
inline constexpr std::size_t kMostExplained = 512;

Look look_at(const LoadedModel& model, const TextInput& input, const LookOptions& options = {});

// What the page of a look carries of its attention.
PageLayout layout_of(const TextAttention& attention);

}  // namespace heed

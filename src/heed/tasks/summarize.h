// What a document says, in short: sentences of its own that stand for it, found by the vectors that a sentence encoder
// gives them. The walk that ranks them is in sentence_centrality.h; how documents become sentences, in
// text/sentences.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct SummarySentence {
  std::string text;
  std::int64_t start = 0, end = 0;  // characters (code points) of the document
  double score = 0;                 // centrality, of which the average is 1; 0 for the method lead
};

struct Summary {
  std::string summary;  // the sentences, on one line
  std::vector<SummarySentence> sentences;
};

struct SummarizeOptions {
  std::string method = "central";           // or "lead"
  std::optional<std::int64_t> sentences{};  // 3, if neither this nor the share is set
  std::optional<double> share{};
  Fields fields();
};

// One per document; a document without a sentence has an empty one. Sentences that are longer than the model allows are
// read in pieces.
std::vector<Summary> summarize(const LoadedModel& model, const std::vector<std::string>& documents,
                               const SummarizeOptions& options = {});

const Task& summarize_task();

}  // namespace heed

// Which sequences run together, and what a task wants to know of them. Since no sequence sees its neighbours (law 1),
// the grouping of predictions is a matter of speed and memory only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/row.h"
#include "heed/models/model.h"
#include "heed/text/encoding.h"

namespace heed {

// What one head should say of one sample. Which list is filled depends on the task.
struct Targets {
  std::vector<std::int64_t> classes{};  // one per sample, per token (kNoTarget: none), or first and last token
  std::vector<float> values{};          // one per label, or a score
};
inline constexpr std::int64_t kNoTarget = -100;

// One window over one row, or the texts of a row that are compared.
struct Sample {
  std::vector<text::Encoding> sequences{};
  std::string text{};              // of the tokens; the first, if there are several
  std::vector<Targets> targets{};  // per head; empty for predictions
  std::vector<Row> rows{};         // what it was made of, as each head sees it
  std::size_t row_number = 0;      // windows over one text share it
  std::size_t window = 0;          // which of its row's samples this is
  std::size_t remembered = 0;      // tokens that the window begins with (BatchedRun::remembered)
  bool has_source = false;         // the first of two sequences is the source of the other
};

struct Batch {
  std::vector<Sample> samples{};
  Inputs inputs{};  // all sequences of all samples, end to end, sources apart
  std::int64_t tokens() const;
};
// Token types are packed if the model has any to tell apart.
Batch make_batch(std::vector<Sample> samples, const ModelInfo& model);

// The ids, and token types, of encodings end to end.
Inputs pack_encodings(std::span<const text::Encoding> encodings, const ModelInfo& model);

// Indices into `lengths`, longest first, as many together as a budget of tokens allows. A sequence that is longer than
// the budget gets a batch of its own.
std::vector<std::vector<std::size_t>> plan_batches(std::span<const std::size_t> lengths, std::size_t token_budget);

}  // namespace heed

// Translation edit rate (Snover et al. 2006): how many words to insert, delete, replace or shift in runs make a
// reference of a prediction, per word of the reference. The search for shifts is tercom's with sacrebleu's limits, so
// edits are equal to theirs.
#pragma once

#include <cstdint>
#include <span>

#include "heed/metrics/corpus_metric.h"
#include "heed/metrics/ter_tokenizer.h"

namespace heed {

// The edits that make `reference` of `words`, shifts included. Words are numbers.
std::size_t translation_edits(std::span<const std::uint32_t> words, std::span<const std::uint32_t> reference);

class Ter : public CorpusMetric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}

  std::string name() const override { return "TER"; }
  std::vector<SignatureItem> signature() const override;
  std::size_t width() const override { return 2; }
  std::unique_ptr<Segments> segments() const override;
  double score(std::span<const double> sums) const override;
  Json details(std::span<const double> sums) const override;

 private:
  TerOptions options_;
};

}  // namespace heed

// BLEU (Papineni et al. 2002), equal to sacrebleu's.
#pragma once

#include <optional>

#include "heed/base/fields.h"
#include "heed/metrics/bleu_tokenizers.h"
#include "heed/metrics/corpus_metric.h"

namespace heed {

struct BleuOptions {
  std::string tokenize = "13a";
  std::string sentencepiece_model{};  // of the flores tokenizers
  bool lowercase = false;
  // What becomes of orders without a match: exp halves, floor counts them as `smooth_value`, add-k adds it to the
  // counts of all orders above 1, none leaves the score 0.
  std::string smooth_method = "exp";
  std::optional<double> smooth_value{};  // default: 0.1 for floor, 1 for add-k
  std::int64_t max_ngram_order = 4;
  bool effective_order = false;  // orders that a short text does not have do not count; for single sentences
  Fields fields();
};

// Sums over segments.
struct BleuCounts {
  double prediction_length = 0, reference_length = 0;
  std::vector<double> correct{}, total{};  // by order from 1
};

struct BleuScore {
  double score = 0, brevity_penalty = 0;
  std::vector<double> precisions{};  // in percent
  BleuCounts counts{};               // as smoothing left them
};

BleuScore bleu_score(BleuCounts counts, const BleuOptions& options);

class Bleu : public CorpusMetric {
 public:
  // Throws bad_format for values that fields() refuses, invalid_argument for some that do not fit together.
  explicit Bleu(BleuOptions options = {});

  std::string name() const override { return "BLEU"; }
  std::vector<SignatureItem> signature() const override;
  std::size_t width() const override { return 2 + 2 * order_; }
  std::unique_ptr<Segments> segments() const override;
  double score(std::span<const double> sums) const override { return score_of(sums).score; }
  Json details(std::span<const double> sums) const override;
  std::string line(std::span<const double> sums) const override;

  BleuScore score_of(std::span<const double> sums) const;

 private:
  BleuOptions options_;
  std::size_t order_;
  BleuTokenizer tokenize_;
};

}  // namespace heed

// chrF and chrF++ (Popović 2015, 2017): F-scores of n-grams of characters, and of words for chrF++; equal to
// sacrebleu's.
#pragma once

#include "heed/base/fields.h"
#include "heed/metrics/corpus_metric.h"

namespace heed {

struct ChrfOptions {
  std::int64_t char_order = 6;
  std::int64_t word_order = 0;  // 2: chrF++
  std::int64_t beta = 2;        // how much more recall weighs than precision
  bool lowercase = false;
  bool whitespace = false;  // white space is characters too
  // An order without n-grams counts as almost 0, as in chrF++.py and NLTK, instead of not at all.
  bool eps_smoothing = false;
  Fields fields();
};

class Chrf : public CorpusMetric {
 public:
  // Throws bad_format for values that fields() refuses.
  explicit Chrf(const ChrfOptions& options = {});

  std::string name() const override;
  std::vector<SignatureItem> signature() const override;
  std::size_t width() const override;
  std::unique_ptr<Segments> segments() const override;
  double score(std::span<const double> sums) const override;
  Json details(std::span<const double> sums) const override;

 private:
  ChrfOptions options_;
};

}  // namespace heed

// Whether scores are more than chance: confidence by bootstrap, and tests of systems against a baseline, as sacrebleu
// makes them, with its samples (NumPy's generator with the seed).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/metrics/corpus_metric.h"

namespace heed {

inline constexpr std::int64_t kBootstrapSamples = 1000, kRandomizationSamples = 10000;

// Of scores over resampled segments: 95 % of them are within the mean and `half`.
struct Confidence {
  double mean = 0, half = 0;
};
Confidence bootstrap_confidence(const CorpusMetric& metric, const CorpusNumbers& numbers, std::int64_t samples,
                                std::uint64_t seed);

// How probable a difference as large as that of the scores is if system and baseline are the same (two-sided).
struct PairedResult {
  double p_value = 0;
  std::optional<Confidence> confidence{};  // of the system's score, by bootstrap
};

// Paired bootstrap (Koehn 2004), as in Moses.
PairedResult paired_bootstrap(const CorpusMetric& metric, const CorpusNumbers& baseline, const CorpusNumbers& system,
                              std::int64_t samples, std::uint64_t seed);
// Approximate randomization (Riezler and Maxwell 2005), as in MultEval: segments are exchanged at random.
PairedResult paired_randomization(const CorpusMetric& metric, const CorpusNumbers& baseline,
                                  const CorpusNumbers& system, std::int64_t samples, std::uint64_t seed);

}  // namespace heed

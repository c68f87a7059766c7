#include "heed/metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/metrics/numpy_random.h"
#include "heed/metrics/report.h"

namespace heed {
namespace {

// So many samples are drawn before they are scored.
constexpr std::int64_t kDrawnAtOnce = 64;

void check_sizes(const CorpusMetric& metric, const CorpusNumbers& numbers, std::int64_t samples) {
  HEED_CHECK(samples >= 1, "[", metric.name(), "] ", samples, " samples, expected at least 1");
  HEED_CHECK(numbers.segments() < UINT32_MAX, "[", metric.name(), "] too many segments to draw from");
}

// Calls use(sample, what draw() gave for each of its segments) for all samples, in parallel, drawn in order.
template <class Drawn, class Draw, class Use>
void for_each_sample(std::int64_t samples, std::size_t segments, const Draw& draw, const Use& use) {
  std::vector<Drawn> drawn(static_cast<std::size_t>(std::min(samples, kDrawnAtOnce)) * segments);
  for (std::int64_t first = 0; first < samples; first += kDrawnAtOnce) {
    const std::int64_t count = std::min(kDrawnAtOnce, samples - first);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * segments; ++i) drawn[i] = draw();
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        use(static_cast<std::size_t>(first + i),
            std::span<const Drawn>(drawn).subspan(static_cast<std::size_t>(i) * segments, segments));
      }
    });
  }
}

// sacrebleu sums samples in single precision, segment by segment.
class Resampled {
 public:
  explicit Resampled(const CorpusNumbers& numbers)
      : width_(numbers.width), values_(numbers.values.begin(), numbers.values.end()) {}

  double score(const CorpusMetric& metric, std::span<const std::uint32_t> segments) const {
    std::vector<float> sums(width_);
    for (const std::uint32_t segment : segments) {
      const float* values = values_.data() + segment * width_;
      for (std::size_t i = 0; i < width_; ++i) sums[i] += values[i];
    }
    const std::vector<double> wide(sums.begin(), sums.end());
    return metric.score(wide);
  }

 private:
  std::size_t width_;
  std::vector<float> values_;
};

using ScoreLists = std::vector<std::vector<double>>;

// Of each system the scores of all samples. The samples are the same for all.
ScoreLists bootstrap_scores(const CorpusMetric& metric, std::initializer_list<const CorpusNumbers*> systems,
                            std::int64_t samples, std::uint64_t seed) {
  std::vector<Resampled> resampled;
  for (const CorpusNumbers* system : systems) resampled.emplace_back(*system);
  const std::size_t segments = (*systems.begin())->segments();
  ScoreLists scores(systems.size(), std::vector<double>(static_cast<std::size_t>(samples)));
  NumpyGenerator random(seed);
  for_each_sample<std::uint32_t>(
      samples, segments, [&] { return random.below(static_cast<std::uint32_t>(segments)); },
      [&](std::size_t sample, std::span<const std::uint32_t> drawn) {
        for (std::size_t i = 0; i < resampled.size(); ++i) scores[i][sample] = resampled[i].score(metric, drawn);
      });
  return scores;
}

double mean_of(const std::vector<double>& values) {
  return pairwise_sum(values) / static_cast<double>(values.size());
}

Confidence confidence_of(std::vector<double> scores) {
  std::ranges::sort(scores);
  const std::size_t cut = scores.size() / 40;  // 2.5 % at either end
  return {mean_of(scores), 0.5 * (scores[scores.size() - cut - 1] - scores[cut])};
}

// The share of differences that are larger than the one that was found, which itself is counted as one.
double p_value(const std::vector<double>& differences, double found) {
  const auto larger = std::ranges::count_if(differences, [&](double each) { return each > found; });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

double difference(const CorpusMetric& metric, const CorpusNumbers& a, const CorpusNumbers& b) {
  return std::abs(metric.score(a.sums()) - metric.score(b.sums()));
}

void check_pair(const CorpusMetric& metric, const CorpusNumbers& baseline, const CorpusNumbers& system,
                std::int64_t samples) {
  check_sizes(metric, baseline, samples);
  HEED_CHECK(baseline.segments() == system.segments(), "[", metric.name(), "] the baseline has ", baseline.segments(),
             " segments, the system ", system.segments());
}

}  // namespace

Confidence bootstrap_confidence(const CorpusMetric& metric, const CorpusNumbers& numbers, std::int64_t samples,
                                std::uint64_t seed) {
  check_sizes(metric, numbers, samples);
  return confidence_of(bootstrap_scores(metric, {&numbers}, samples, seed)[0]);
}

PairedResult paired_bootstrap(const CorpusMetric& metric, const CorpusNumbers& baseline, const CorpusNumbers& system,
                              std::int64_t samples, std::uint64_t seed) {
  check_pair(metric, baseline, system, samples);
  const ScoreLists scores = bootstrap_scores(metric, {&baseline, &system}, samples, seed);
  std::vector<double> differences(scores[0].size());
  std::ranges::transform(scores[1], scores[0], differences.begin(), [](double a, double b) { return std::abs(a - b); });
  const double mean = mean_of(differences);
  for (double& each : differences) each -= mean;
  return {p_value(differences, difference(metric, baseline, system)), confidence_of(scores[1])};
}

PairedResult paired_randomization(const CorpusMetric& metric, const CorpusNumbers& baseline,
                                  const CorpusNumbers& system, std::int64_t samples, std::uint64_t seed) {
  check_pair(metric, baseline, system, samples);
  std::vector<double> differences(static_cast<std::size_t>(samples));
  NumpyGenerator random(seed);
  const std::size_t width = baseline.width;
  for_each_sample<char>(
      samples, baseline.segments(), [&] { return static_cast<char>(random.flip()); },
      [&](std::size_t sample, std::span<const char> drawn) {
        std::vector<double> a(width), b(width);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
          const auto first = drawn[i] ? baseline.segment(i) : system.segment(i);
          const auto second = drawn[i] ? system.segment(i) : baseline.segment(i);
          for (std::size_t k = 0; k < width; ++k) {
            a[k] += first[k];
            b[k] += second[k];
          }
        }
        differences[sample] = std::abs(metric.score(a) - metric.score(b));
      });
  return {p_value(differences, difference(metric, baseline, system))};
}

}  // namespace heed

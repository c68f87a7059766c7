#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/metrics/numpy_random.h"
#include "heed/metrics/rouge.h"

namespace heed {
namespace {

// numpy.percentile of sorted values, for a share of 0 to 1.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = static_cast<double>(sorted.size() - 1) * share;
  const double before = std::floor(place), part = place - before;
  const auto i = static_cast<std::size_t>(before);
  const double low = sorted[i], high = sorted[std::min(i + 1, sorted.size() - 1)];
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

constexpr double RougeScore::*kMeasures[] = {&RougeScore::precision, &RougeScore::recall, &RougeScore::fmeasure};

}  // namespace

std::vector<RougeConfidence> rouge_confidence(const std::vector<std::vector<RougeScore>>& scores, std::int64_t samples,
                                              std::uint32_t seed) {
  HEED_CHECK(!scores.empty() && scores.size() < UINT32_MAX && samples >= 1, "[rouge] ", samples, " samples of ",
             scores.size(), " texts, expected at least one of each");
  constexpr double kOutside = (1 - 0.95) / 2;
  const auto texts = static_cast<std::uint32_t>(scores.size());
  NumpyRandomState random(seed);
  std::vector<RougeConfidence> result(scores[0].size());
  for (std::size_t type = 0; type < result.size(); ++type) {
    std::array<std::vector<double>, std::size(kMeasures)> means;
    for (std::int64_t i = 0; i < samples; ++i) {
      std::array<double, std::size(kMeasures)> sums{};
      for (std::uint32_t text = 0; text < texts; ++text) {
        const RougeScore& drawn = scores[random.below(texts)][type];
        for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += drawn.*kMeasures[m];
      }
      for (std::size_t m = 0; m < sums.size(); ++m) means[m].push_back(sums[m] / texts);
    }
    for (std::size_t m = 0; m < means.size(); ++m) {
      std::ranges::sort(means[m]);
      result[type].low.*kMeasures[m] = quantile(means[m], kOutside);
      result[type].mid.*kMeasures[m] = quantile(means[m], 0.5);
      result[type].high.*kMeasures[m] = quantile(means[m], 1 - kOutside);
    }
  }
  return result;
}

}  // namespace heed

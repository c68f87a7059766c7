// The best of many scores without sorting them all. Of equal scores the lower id is the better.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "heed/generate/rule.h"

namespace heed {

inline constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// The k-th largest score; the least if there are fewer. O(V).
inline float kth_largest(std::span<const float> scores, std::int64_t k) {
  std::vector<float> copy(scores.begin(), scores.end());
  const auto place = std::clamp<std::int64_t>(k, 1, static_cast<std::int64_t>(copy.size())) - 1;
  std::ranges::nth_element(copy, copy.begin() + place, std::greater<>());
  return copy[static_cast<std::size_t>(place)];
}

// Ids whose scores are not -inf.
inline std::vector<TokenId> allowed_ids(std::span<const float> scores) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != kForbidden) ids.push_back(static_cast<TokenId>(i));
  }
  return ids;
}

// Calls visit(id) from the best id on until it returns false. Brings only as many of `ids` in order as are visited.
template <class Better, class Visit>
void visit_best(std::vector<TokenId>& ids, const Better& better, const Visit& visit) {
  std::ptrdiff_t begin = 0, chunk = 64;
  const auto size = std::ssize(ids);
  for (; begin < size; chunk *= 4) {
    const std::ptrdiff_t end = std::min(begin + chunk, size);
    if (end < size) std::nth_element(ids.begin() + begin, ids.begin() + end, ids.end(), better);
    std::sort(ids.begin() + begin, ids.begin() + end, better);
    for (; begin < end; ++begin) {
      if (!visit(ids[static_cast<std::size_t>(begin)])) return;
    }
  }
}

// Unnormalised probabilities exp(score - best) of ids, added in their order. Of scores that are +inf each weighs 1, all
// others nothing.
struct Weights {
  std::vector<double> values;
  double total = 0;
};
inline Weights weights_of(std::span<const float> scores, std::span<const TokenId> ids) {
  Weights weights;
  weights.values.reserve(ids.size());
  float best = kForbidden;
  for (const TokenId id : ids) best = std::max(best, scores[static_cast<std::size_t>(id)]);
  for (const TokenId id : ids) {
    const float score = scores[static_cast<std::size_t>(id)];
    const double weight = score == best ? 1 : std::exp(static_cast<double>(score) - static_cast<double>(best));
    weights.values.push_back(weight);
    weights.total += weight;
  }
  return weights;
}

}  // namespace heed

#include "heed/generate/sample.h"

#include "heed/generate/selection.h"

namespace heed {

TokenId sample(std::span<const float> scores, double share) {
  const std::vector<TokenId> ids = allowed_ids(scores);
  const Weights weights = weights_of(scores, ids);
  const double aim = share * weights.total;
  double sum = 0;
  std::size_t last = 0;  // that has any weight: rounding may leave the aim above the sum
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (weights.values[i] == 0) continue;
    sum += weights.values[i];
    last = i;
    if (sum > aim) break;
  }
  return ids[last];
}

}  // namespace heed

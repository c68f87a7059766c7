// Which of the models that were judged on dev is kept.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace heed {

struct BestModel {
  std::optional<double> score{};  // the best that was finite
  std::int64_t step = 0;          // whose model is kept; 0: none was judged
  std::int64_t worse = 0;         // judgments since the last better one

  // Whether the model of this step is now the one to keep. Of equally good ones the latest is, which has seen more. A
  // score that is not finite is never better: such a model is kept only as long as all are like that.
  bool judge(double value, bool higher_is_better, std::int64_t of_step) {
    const bool better = std::isfinite(value) && (!score || (higher_is_better ? value > *score : value < *score));
    const bool kept = better || !score || value == *score;
    worse = better || step == 0 ? 0 : worse + 1;
    if (better) score = value;
    if (kept) step = of_step;
    return kept;
  }
};

}  // namespace heed

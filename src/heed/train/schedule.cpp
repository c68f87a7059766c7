#include "heed/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"

namespace heed {

double Schedule::learning_rate(std::int64_t step) const {
  HEED_CHECK(step >= 0 && warmup_steps >= 0, "[Schedule] step ", step, ", warm-up ", warmup_steps);
  HEED_CHECK(decay == Decay::constant || total_steps > warmup_steps, "[Schedule] total steps ", total_steps,
             " must exceed the warm-up of ", warmup_steps);
  if (step < warmup_steps) return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  if (decay == Decay::constant) return peak;
  const double progress =
      std::min(1.0, static_cast<double>(step - warmup_steps) / static_cast<double>(total_steps - warmup_steps));
  const double share = decay == Decay::linear ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return floor + (peak - floor) * share;
}

}  // namespace heed

// Learning-rate schedules: pure functions of the step, so that a resumed run needs no state.
#pragma once

#include <cstdint>

namespace heed {

enum class Decay { constant, linear, cosine };

struct Schedule {
  double peak = 1e-3;             // learning rate after warm-up
  std::int64_t warmup_steps = 0;  // rises linearly from 0 during these
  std::int64_t total_steps = 0;   // linear and cosine reach `floor` here
  Decay decay = Decay::linear;
  double floor = 0;

  // For step 0, 1, 2 ...; throws on contradictory fields.
  double learning_rate(std::int64_t step) const;
};

}  // namespace heed

// Rotary positions as config.json has them: rope_parameters, or the older rope_theta and rope_scaling.
#pragma once

#include "heed/attention/rotary.h"
#include "heed/models/config_reader.h"

namespace heed {

struct RopeDefaults {
  std::int64_t head_dim = 0;
  std::int64_t max_positions = 0;
  double theta = 10000;
  double partial = 1;  // share of a head that turns
};

// For models whose layers do not all turn alike, `layer_type` is the one that is asked for ("full_attention").
RotaryOptions read_rope(ConfigReader& reader, const RopeDefaults& defaults, const std::string& layer_type = "");

}  // namespace heed

// The end of a message about a name that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/fields.h"

namespace heed {

// "; did you mean accuracy?", or "" if no known name is near.
inline std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace heed

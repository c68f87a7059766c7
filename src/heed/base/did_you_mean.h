// The end of a message about a name that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/fields.h"

namespace heed {

// "; did you mean accuracy?", or "" if no known name is near. `before` and `after` enclose the name: quotes, dashes.
inline std::string did_you_mean(std::string_view name, std::span<const std::string> known, std::string_view before = "",
                                std::string_view after = "") {
  const std::string nearest = nearest_name(name, known);
  if (nearest.empty()) return "";
  return "; did you mean " + std::string(before) + nearest + std::string(after) + "?";
}

}  // namespace heed

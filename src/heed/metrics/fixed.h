#pragma once

#include <iomanip>
#include <sstream>
#include <string>

namespace heed {

// With this many digits after the point.
inline std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace heed

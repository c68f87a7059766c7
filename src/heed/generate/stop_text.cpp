#include "heed/generate/stop_text.h"

#include <algorithm>

namespace heed {
namespace {

// How many characters at the end of the text may be the beginning of the stop string.
std::size_t begun(const std::string& text, const std::string& stop) {
  for (std::size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
    if (text.compare(text.size() - length, length, stop, 0, length) == 0) return length;
  }
  return 0;
}

}  // namespace

std::string StopText::release(const std::string& fresh, bool all) {
  if (stopped_) return "";
  held_ += fresh;
  std::size_t first = std::string::npos, waits = 0;
  for (const std::string& stop : *stops_) {
    first = std::min(first, held_.find(stop));
    if (!all) waits = std::max(waits, begun(held_, stop));
  }
  stopped_ = first != std::string::npos;
  const std::size_t certain = stopped_ ? first : held_.size() - waits;
  std::string text = held_.substr(0, certain);
  held_ = stopped_ ? "" : held_.substr(certain);
  return text;
}

}  // namespace heed

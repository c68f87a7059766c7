#include "heed/tasks/label_set.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"

namespace heed {

bool LabelSet::contains(const std::string& label) const {
  return std::ranges::find(labels_, label) != labels_.end();
}

std::int64_t LabelSet::index_of(const std::string& label, const Row& row) const {
  const auto found = std::ranges::find(labels_, label);
  if (found != labels_.end()) return found - labels_.begin();
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool whole = error == std::errc() && end == label.data() + label.size();
  HEED_CHECK_AS(bad_format, accepts_numbers_ && whole && number >= 0 && number < std::ssize(labels_), row.file, ":",
                row.line, ": the label \"", label, "\" is not one of the ", labels_.size(),
                accepts_numbers_ ? " of the model" : " of the training data");
  return number;
}

const std::string& LabelSet::label_of_nothing() const {
  const auto outside = std::ranges::find(labels_, "O");
  return outside != labels_.end() ? *outside : labels_.at(0);
}

}  // namespace heed

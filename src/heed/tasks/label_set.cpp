#include "heed/tasks/label_set.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"

namespace heed {

bool LabelSet::contains(const std::string& label) const {
  return std::ranges::find(labels_, label) != labels_.end();
}

void LabelSet::check_learned() const {
  HEED_CHECK_AS(bad_format, found_.size() > 1, "[train] data.train has ",
                found_.empty() ? "no label" : "a single label, \"" + *found_.begin() + "\"",
                ": there is nothing to tell apart; is the column of the label another one (data.label)?");
}

void ScoreRange::check() const {
  HEED_CHECK_AS(bad_format, least_ < most_, "[train] all ", rows_, " scores of data.train are ", least_,
                ": there is nothing to learn from them; is the column another one (data.score)?");
}

std::optional<std::int64_t> LabelSet::find(const std::string& label) const {
  const auto found = std::ranges::find(labels_, label);
  if (found != labels_.end()) return found - labels_.begin();
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool whole = error == std::errc() && end == label.data() + label.size();
  if (!accepts_numbers_ || !whole || number < 0 || number >= std::ssize(labels_)) return {};
  return number;
}

const std::string& LabelSet::name_of(const std::string& label) const {
  const auto known = find(label);
  return known ? labels_[static_cast<std::size_t>(*known)] : label;
}

std::vector<std::size_t> LabelSet::unknown_labels(const Row& row) const {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < row.labels.size(); ++i) {
    if (!find(row.labels[i])) unknown.push_back(i);
  }
  return unknown;
}

const std::string& LabelSet::label_of_nothing() const {
  const auto outside = std::ranges::find(labels_, "O");
  return outside != labels_.end() ? *outside : labels_.at(0);
}

}  // namespace heed

// The labels of a task: gathered from the training data in alphabetical order, or given.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/row.h"

namespace heed {

class LabelSet {
 public:
  void learn(const Row& row) { found_.insert(row.labels.begin(), row.labels.end()); }
  void learn(std::string label) { found_.insert(std::move(label)); }
  void set(std::vector<std::string> labels) { labels_ = std::move(labels); }
  std::vector<std::string> list() const {
    return labels_.empty() ? std::vector<std::string>(found_.begin(), found_.end()) : labels_;
  }
  std::size_t size() const { return labels_.size(); }
  const std::string& operator[](std::size_t i) const { return labels_[i]; }
  bool contains(const std::string& label) const { return std::ranges::find(labels_, label) != labels_.end(); }
  // Throws bad_format, with the row's place, for a label that is not among those set.
  std::int64_t index_of(const std::string& label, const Row& row) const {
    const auto found = std::ranges::find(labels_, label);
    HEED_CHECK_AS(bad_format, found != labels_.end(), row.file, ":", row.line, ": the label \"", label,
                  "\" is not one of the ", labels_.size(), " of the training data");
    return found - labels_.begin();
  }

 private:
  std::set<std::string> found_;
  std::vector<std::string> labels_;
};

}  // namespace heed

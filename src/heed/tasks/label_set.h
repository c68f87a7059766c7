// The labels of a task: gathered from the training data in alphabetical order, or those of a model.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "heed/data/row.h"

namespace heed {

class LabelSet {
 public:
  LabelSet() = default;
  // Those of a model, whose data may also call them by their numbers.
  explicit LabelSet(std::vector<std::string> labels) : labels_(std::move(labels)), accepts_numbers_(true) {}

  void learn(std::string label) { found_.insert(std::move(label)); }
  void set(std::vector<std::string> labels) { labels_ = std::move(labels); }
  std::vector<std::string> list() const {
    return labels_.empty() ? std::vector<std::string>(found_.begin(), found_.end()) : labels_;
  }
  std::size_t size() const { return labels_.size(); }
  const std::string& operator[](std::size_t i) const { return labels_[i]; }
  bool contains(const std::string& label) const;
  // Throws bad_format, with the row's place, for a label that is not among those set.
  std::int64_t index_of(const std::string& label, const Row& row) const;
  // Of a word that no token speaks for: "O", or the first label if there is no "O".
  const std::string& label_of_nothing() const;

 private:
  std::set<std::string> found_;
  std::vector<std::string> labels_;
  bool accepts_numbers_ = false;
};

}  // namespace heed

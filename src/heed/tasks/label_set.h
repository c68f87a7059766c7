// The labels of a task: gathered from the training data in alphabetical order, or those of a model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
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
  // Throws bad_format unless there are labels to tell apart.
  void check_learned() const;
  void set(std::vector<std::string> labels) { labels_ = std::move(labels); }
  std::vector<std::string> list() const {
    return labels_.empty() ? std::vector<std::string>(found_.begin(), found_.end()) : labels_;
  }
  std::size_t size() const { return labels_.size(); }
  const std::string& operator[](std::size_t i) const { return labels_[i]; }
  bool contains(const std::string& label) const;
  // Its class; nothing for a label that is neither among those set nor, of a model's, the number of one.
  std::optional<std::int64_t> find(const std::string& label) const;
  // Its name in this set; a label that is not known stays as it is.
  const std::string& name_of(const std::string& label) const;
  // The places of the row's labels that are not known.
  std::vector<std::size_t> unknown_labels(const Row& row) const;
  // Of a word that no token speaks for: "O", or the first label if there is no "O".
  const std::string& label_of_nothing() const;

 private:
  std::set<std::string> found_;
  std::vector<std::string> labels_;
  bool accepts_numbers_ = false;
};

// The scores of training data.
class ScoreRange {
 public:
  void learn(double score) {
    least_ = rows_ == 0 ? score : std::min(least_, score);
    most_ = rows_ == 0 ? score : std::max(most_, score);
    ++rows_;
  }
  bool constant() const { return rows_ > 0 && least_ == most_; }
  double least() const { return least_; }
  // Throws bad_format unless they differ.
  void check() const;

 private:
  double least_ = 0, most_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace heed

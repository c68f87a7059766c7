// What each label counts in the loss of training: all alike, rare ones more (scikit-learn's "balanced": rows / (labels
// * rows with the label)), or as the user says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/tasks/batch.h"

namespace heed {

class ClassWeights {
 public:
  // "none", "balanced" or {"label": weight}; what is not named weighs 1.
  explicit ClassWeights(Json rule) : rule_(std::move(rule)) {}

  bool wanted() const { return rule_ != "none"; }
  // One more row, or word, with the label.
  void learn(const std::string& label) { ++counts_[label]; }
  // From here on classes stand for these labels. Throws invalid_argument for a weight of a label that is not there.
  void set_labels(const std::vector<std::string>& labels);

  // [labels]; undefined if all count alike, as they do unless a model is `training`.
  Tensor tensor(bool training) const { return training ? weights_ : Tensor(); }
  // The sum of the weights of classes; kNoTarget weighs nothing.
  double sum(const std::vector<std::int64_t>& classes, bool training) const;

 private:
  Json rule_;
  std::map<std::string, std::size_t> counts_;
  Tensor weights_{};
};

// The option "class_weights" of a task, checked; `rule` is what ClassWeights takes.
Field class_weights_field(Json& rule);

}  // namespace heed

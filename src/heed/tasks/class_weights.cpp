#include "heed/tasks/class_weights.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/tasks/task.h"

namespace heed {
namespace {

bool is_rule(const Json& rule) {
  if (rule.is_string()) return rule == "none" || rule == "balanced";
  return rule.is_object() &&
         std::ranges::all_of(rule, [](const Json& weight) { return weight.is_number() && weight.get<double>() > 0; });
}

}  // namespace

void ClassWeights::set_labels(const std::vector<std::string>& labels) {
  if (!wanted()) return;
  if (rule_.is_object()) {
    for (const auto& [label, weight] : rule_.items()) {
      HEED_CHECK(std::ranges::find(labels, label) != labels.end(), "class_weights: there is no label \"", label, "\"",
                 did_you_mean(label, labels, "\"", "\""));
    }
  }
  std::size_t rows = 0;
  for (const auto& [label, count] : counts_) rows += count;
  std::vector<float> weights;
  for (const std::string& label : labels) {
    double weight = 1;
    if (rule_.is_object()) {
      weight = rule_.value(label, 1.0);
    } else if (const auto count = counts_.find(label); count != counts_.end()) {
      weight = static_cast<double>(rows) / static_cast<double>(counts_.size()) / static_cast<double>(count->second);
    }
    weights.push_back(static_cast<float>(weight));
  }
  weights_ = Tensor::from(weights, {static_cast<std::int64_t>(weights.size())});
}

double ClassWeights::sum(const std::vector<std::int64_t>& classes, bool training) const {
  const bool weighted = training && weights_.defined();
  double sum = 0;
  for (const std::int64_t each : classes) {
    if (each != kNoTarget) sum += weighted ? static_cast<double>(weights_.data<float>()[each]) : 1;
  }
  return sum;
}

Field class_weights_field(Json& rule) {
  return Field("class_weights", rule,
               "weights of labels in the loss: none, balanced (rare ones count more) or {\"label\": weight}")
      .where([&rule] { return is_rule(rule); }, "none, balanced, or an object of labels and numbers above 0")
      .only_for(kForTrain);
}

}  // namespace heed

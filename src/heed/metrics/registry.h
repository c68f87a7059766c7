// The table of metrics that need no model: from files of predictions and right answers to scores, for `heed metrics`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/option_list.h"
#include "heed/metrics/metric_files.h"

namespace heed {

struct MetricFiles {
  std::vector<MetricFile> predictions{}, references{};
};

struct MetricResult {
  Json json = Json::object();
  std::string text{};  // for people
};

struct Metric {
  std::string name;
  std::string summary;                  // one line of help
  std::string predictions, references;  // what is in the files
  std::string example;                  // a command that shows it
  bool several_systems = false;         // takes more than one file of predictions
  bool several_references = false;
  OptionList options;
  MetricResult (*run)(const MetricFiles& files, const Json& options);
};

const std::vector<const Metric*>& metrics();
// Throws invalid_argument with the nearest name if there is none.
const Metric& metric_named(std::string_view name);

// Checks how many files there are, and runs it. The JSON says in "metric" which it was.
MetricResult run_metric(const Metric& metric, const MetricFiles& files, const Json& options);

}  // namespace heed

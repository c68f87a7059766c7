#include "heed/metrics/registry.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/join.h"

namespace heed {

const Metric& bleu_metric();
const Metric& chrf_metric();
const Metric& ter_metric();
const Metric& rouge_metric();
const Metric& classification_metric();
const Metric& seqeval_metric();
const Metric& squad_metric();
const Metric& cmrc2018_metric();
const Metric& correlation_metric();
const Metric& ranking_metric();

const std::vector<const Metric*>& metrics() {
  static const std::vector<const Metric*> all = {
      &bleu_metric(),    &chrf_metric(),  &ter_metric(),      &rouge_metric(),       &classification_metric(),
      &seqeval_metric(), &squad_metric(), &cmrc2018_metric(), &correlation_metric(), &ranking_metric()};
  return all;
}

const Metric& metric_named(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &Metric::name);
  if (found != metrics().end()) return **found;
  std::vector<std::string> names;
  for (const Metric* metric : metrics()) names.push_back(metric->name);
  fail(ErrorKind::invalid_argument, "the metric \"", name, "\" is unknown, expected ", join_or(names),
       did_you_mean(name, names));
}

MetricResult run_metric(const Metric& metric, const MetricFiles& files, const Json& options) {
  const auto check = [&](const std::vector<MetricFile>& list, bool several, const char* what) {
    HEED_CHECK(!list.empty(), "[", metric.name, "] no file of ", what, " is given");
    HEED_CHECK(several || list.size() == 1, "[", metric.name, "] ", list.size(), " files of ", what,
               " are given, expected one");
  };
  check(files.predictions, metric.several_systems, "predictions");
  check(files.references, metric.several_references, "references");
  MetricResult result = metric.run(files, options);
  result.json["metric"] = metric.name;
  return result;
}

}  // namespace heed

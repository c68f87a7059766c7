// heed metrics: how good predictions in files are, without a model.
#include "heed/metrics/registry.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>

#include "answer_file.h"
#include "heed/base/parallel.h"
#include "heed/data/line_file.h"
#include "model_options.h"
#include "option_flags.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options {
  std::vector<std::string> predictions, references;
  bool json = false;
  int threads = 0;
  Json given = Json::object();
};

int run(const Metric& metric, const Options& options) {
  const auto limit = limit_threads(options.threads);
  std::deque<detail::LineFile> open;  // which the texts view
  const auto files_of = [&](const std::vector<std::string>& names) {
    std::vector<MetricFile> files;
    for (const std::string& name : names) files.push_back({name, open.emplace_back(name).text()});
    return files;
  };
  const MetricFiles files{files_of(options.predictions), files_of(options.references)};
  const MetricResult result = run_metric(metric, files, options.given);
  AnswerFile("-").write(options.json ? result.json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"
                                     : result.text);
  return 0;
}

void add_metric(CLI::App& group, const Metric& metric, int& result) {
  CLI::App* verb = group.add_subcommand(metric.name, metric.summary);
  const auto options = std::make_shared<Options>();
  const auto add_files = [&](const char* flag, std::vector<std::string>& names, const std::string& what, bool several) {
    verb->add_option(flag, names, what + (several ? "; any number of files, a flag for each" : ""))
        ->required()
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("FILE");
  };
  add_files("--predictions", options->predictions, "file to be judged: " + metric.predictions, metric.several_systems);
  add_files("--references", options->references, "file with the right ones: " + metric.references,
            metric.several_references);
  add_option_flags(*verb, metric.options.list(), ~0U, options->given);
  verb->add_flag("--json", options->json, "print JSON, with all digits");
  add_threads_option(*verb, options->threads);
  verb->footer(metric.example);
  verb->callback([options, &metric, &result] { result = run(metric, *options); });
}

void list_metrics() {
  std::size_t width = 0;
  for (const Metric* metric : metrics()) width = std::max(width, metric->name.size());
  for (const Metric* metric : metrics()) fmt::print("{:<{}}  {}\n", metric->name, width, metric->summary);
  fmt::print("\nheed help metrics NAME says what files and options it takes.\n");
}

}  // namespace

void add_metrics(CLI::App& app, int& result) {
  CLI::App* group = app.add_subcommand(
      "metrics", "score files of predictions as reference programs do, without a model; alone: list the metrics");
  group->require_subcommand(0, 1);
  for (const Metric* metric : metrics()) add_metric(*group, *metric, result);
  group->footer(metrics().front()->example);
  group->callback([group, &result] {
    if (!group->get_subcommands().empty()) return;
    list_metrics();
    result = 0;
  });
}

}  // namespace heed::cli

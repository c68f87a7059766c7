// heed eval: a model folder against a file of right answers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "answer_file.h"
#include "data_options.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/engine/load.h"
#include "heed/tasks/registry.h"
#include "heed/train/evaluation_run.h"
#include "model_options.h"
#include "notes.h"
#include "option_flags.h"
#include "progress.h"
#include "stop_on_signal.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options : DataOptions {
  std::string model, data, task, output;
  int threads = 0;
  Json given = Json::object();  // options of tasks
};

// The options of all tasks; those of several tasks once.
std::vector<OptionInfo> all_options() {
  std::vector<OptionInfo> all;
  for (const Task* task : tasks()) {
    if (!task->trains()) continue;
    for (OptionInfo& option : task->options.list()) {
      if (!(option.uses & kForEvaluate)) continue;
      const auto known = std::ranges::find(all, option.name, &OptionInfo::name);
      if (known == all.end()) {
        option.help.insert(0, task->name + ": ");
        all.push_back(std::move(option));
      } else {
        known->help.insert(0, task->name + ", ");
      }
    }
  }
  return all;
}

int evaluate_file(const Options& options) {
  const StopOnSignal signals;
  const auto limit = limit_threads(options.threads);
  const LoadedModel model = load(options.model);
  const Task* task = options.task.empty() ? default_task(model) : &task_named(options.task);
  HEED_CHECK(task, "[eval] a ", model.model().architecture(), " is made for no task that can be scored; name one by ",
             "--task: ", join(trainable_tasks(), ", "));
  EvaluationRun run(model, *task, options.given, {options.source_of(options.data)});
  for (const std::string& each : run.notes()) note(each);
  Evaluation evaluation;
  {
    ShareProgress progress(options.data + " ");
    evaluation = run.evaluate([&](double share) { progress.show(share); });
  }
  const int digits = options.given.value("digits", 4);
  const bool prints_json = options.output == "-";
  if (!prints_json) fmt::print("{}", text_of(evaluation, digits));
  if (!options.output.empty()) {
    const Json result = {{"task", task->name}, {"model", options.model},     {"data", options.data},
                         {"rows", run.rows()}, {"bad_rows", run.bad_rows()}, {"metrics", to_json(evaluation)}};
    const std::string text = result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (prints_json) {
      AnswerFile("-").write(text);
    } else {
      replace_file(options.output, text);
    }
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("eval", "score a model on labelled data");
  const auto options = std::make_shared<Options>();
  add_model_option(*verb, options->model);
  verb->add_option("--data", options->data, "file with the right answers (docs/data.md)")->required();
  verb->add_option("--task", options->task,
                   "task to score: " + join(trainable_tasks(), ", ") +
                       "; default: the one that the model was trained for or has a head for");
  add_data_options(*verb, *options);
  verb->add_option("--max-bad-rows", options->source.max_bad_rows, "number of malformed rows to skip before giving up")
      ->capture_default_str();
  add_option_flags(*verb, all_options(), kForEvaluate, options->given);
  verb->add_option("--output", options->output,
                   "file to write the metrics to, as JSON; -: standard output, with nothing else");
  add_threads_option(*verb, options->threads);
  verb->footer("heed eval --model all-MiniLM-L6-v2 --data sts.csv --no-header --pair 1 --score 2");
  verb->callback([options, &result] { result = evaluate_file(*options); });
}

}  // namespace heed::cli

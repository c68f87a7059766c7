// heed train: from a config to a model folder, with checkpoints on the way.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command_tree.h"
#include "heed/base/error.h"
#include "heed/tasks/registry.h"
#include "heed/train/trainer.h"
#include "heed/train/tune.h"
#include "stop_on_signal.h"
#include "train_printer.h"
#include "verbs.h"

namespace heed::cli {
namespace {

int run(TrainConfig config, RunStart start) {
  const std::string output = config.output;
  TrainPrinter printer;
  Trainer trainer(std::move(config), printer, start);
  fmt::print("{} samples, {} tokens per epoch, {} parameters to train, {} steps{}\n", trainer.train_data().size(),
             trainer.train_data().tokens(), trainer.parameters(), trainer.total_steps(),
             trainer.steps_done() > 0 ? fmt::format(", {} of them done", trainer.steps_done()) : "");
  std::fflush(stdout);
  const TrainEnd end = trainer.run();
  if (end == TrainEnd::interrupted) {
    fmt::print("\nStopped at step {} of {}; continue with: heed train --resume {}\n", trainer.steps_done(),
               trainer.total_steps(), output);
    return 130;
  }
  fmt::print("The model of step {}, {}, is in {}.\n", trainer.kept_step(),
             trainer.judged() ? "the best on dev" : "the last", output);
  return 0;
}

int run_tune(const TrainConfig& config, std::int64_t trials, bool overwrite) {
  TrainPrinter printer;
  const TuneResult result = tune(config, trials, printer, overwrite);
  if (result.end == TrainEnd::interrupted) {
    fmt::print("\nStopped; the same command goes on.\n");
    return 130;
  }
  fmt::print("\ntrial  learning rate  epochs  {} on dev\n", result.metric);
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const TuneTrial& trial = result.trials[i];
    fmt::print("{:5}  {:13g}  {:6}  {}{}\n", i + 1, trial.learning_rate, trial.epochs,
               trial.score ? fmt::format("{:.4f}", *trial.score) : "not finite", i == result.best ? "  (best)" : "");
  }
  fmt::print("The model of trial {} is in {}; the trials are in {}/tune, which may be removed.\n", result.best + 1,
             config.output, config.output);
  return 0;
}

struct Options {
  std::string config, resume, init;
  std::vector<std::string> overrides;
  std::int64_t tune = 0;  // 0: not asked for
  bool overwrite = false, schema = false;

  RunStart start() const {
    if (!resume.empty()) return RunStart::resume;
    return overwrite ? RunStart::overwrite : RunStart::fresh;
  }
};

int train(Options options) {
  if (!options.init.empty()) {
    fmt::print("{}", starter_config(options.init));
    return 0;
  }
  if (options.schema) {
    fmt::print("{}\n", train_config_schema().dump(1));
    return 0;
  }
  const bool resume = !options.resume.empty();
  if (resume && options.overwrite) throw CLI::ExcludesError("--resume", "--overwrite");
  if (resume && !options.config.empty()) options.overrides.insert(options.overrides.begin(), options.config);
  if (!resume && options.config.empty()) throw CLI::RequiredError("CONFIG, --resume, --init or --schema");
  if (resume && options.tune > 0) throw CLI::ExcludesError("--resume", "--tune");
  const std::string file = resume ? options.resume + "/train.json" : options.config;
  TrainConfig config = read_train_config(file, options.overrides);
  std::error_code ignored;
  HEED_CHECK(!resume || std::filesystem::equivalent(config.output, options.resume, ignored), options.resume,
             ": its run has the output ", config.output, "; a run is resumed where it is");
  const StopOnSignal signals;  // the first one asks for a checkpoint
  try {
    return options.tune > 0 ? run_tune(config, options.tune, options.overwrite)
                            : run(std::move(config), options.start());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled) throw;
    fmt::print("\nStopped before the first step; the same command begins again.\n");
    return 130;
  }
}

}  // namespace

void add_train(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("train", "train or fine-tune a model as a config file says");
  const auto options = std::make_shared<Options>();
  verb->add_option("CONFIG", options->config, "config file: JSON, comments allowed; after --resume a name=value");
  verb->add_option("OVERRIDES", options->overrides,
                   "settings that override the file, as name=value: optimizer.learning_rate=3e-5");
  verb->add_option("--resume", options->resume, "continue the run in this folder");
  verb->add_option("--init", options->init, "print a commented config for this task")->check(one_of(trainable_tasks()));
  verb->add_option("--tune", options->tune,
                   "number of trials with other learning rates and epochs; the best on dev is "
                   "kept, and the same command continues after a kill")
      ->check(CLI::Range(std::int64_t{2}, kMostTrials));
  verb->add_flag("--overwrite", options->overwrite, "write to the output folder even if it is not empty");
  verb->add_flag("--schema", options->schema, "print the JSON Schema of configs, for editors");
  verb->footer(
      "heed train --init classify > sst2.json\nheed train sst2.json epochs=2\nheed train --resume runs/sst2\n"
      "heed train sst2.json --tune 4");
  verb->callback([options, &result] { result = train(*options); });
}

}  // namespace heed::cli

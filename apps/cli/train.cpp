// heed train: from a config to a model folder, with checkpoints on the way.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "heed/base/file.h"
#include "heed/train/trainer.h"
#include "train_printer.h"
#include "verbs.h"

namespace heed::cli {
namespace {

std::atomic<bool> stop_wanted = false;

// The first signal asks for a checkpoint; a second one ends the program as usual.
void ask_to_stop(int signal) {
  stop_wanted = true;
  std::signal(signal, SIG_DFL);
}

int run(TrainConfig config, bool resume) {
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  const std::string output = config.output;
  TrainPrinter printer;
  Trainer trainer(std::move(config), printer, resume);
  fmt::print("{} samples, {} tokens per epoch, {} parameters to train, {} steps{}\n", trainer.train_data().size(),
             trainer.train_data().tokens(), trainer.parameters(), trainer.total_steps(),
             trainer.steps_done() > 0 ? fmt::format(", {} of them done", trainer.steps_done()) : "");
  std::fflush(stdout);
  const TrainEnd end = trainer.run(&stop_wanted);
  if (end == TrainEnd::interrupted) {
    fmt::print("\nStopped at step {} of {}; go on with: heed train --resume {}\n", trainer.steps_done(),
               trainer.total_steps(), output);
    return 130;
  }
  fmt::print("The model is in {}.\n", output);
  return 0;
}

}  // namespace

void add_train(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("train", "train or fine-tune a model as a config file says");
  struct Options {
    std::string config, resume, init;
    std::vector<std::string> overrides;
  };
  const auto options = std::make_shared<Options>();
  verb->add_option("CONFIG", options->config, "JSON, comments allowed; or name=value after --resume");
  verb->add_option("OVERRIDES", options->overrides, "name=value: optimizer.learning_rate=3e-5");
  verb->add_option("--resume", options->resume, "go on with the run of this output folder");
  verb->add_option("--init", options->init, "write a commented config for a task: " + trainable_tasks());
  verb->footer("heed train --init classify > sst2.json\nheed train sst2.json epochs=2\nheed train --resume runs/sst2");
  verb->callback([options, &result] {
    if (!options->init.empty()) {
      fmt::print("{}", starter_config(options->init));
      result = 0;
      return;
    }
    const bool resume = !options->resume.empty();
    if (resume && !options->config.empty()) options->overrides.insert(options->overrides.begin(), options->config);
    if (!resume && options->config.empty()) throw CLI::RequiredError("CONFIG, --resume or --init");
    const std::string file = resume ? options->resume + "/train.json" : options->config;
    result = run(read_train_config(file, options->overrides), resume);
  });
}

}  // namespace heed::cli

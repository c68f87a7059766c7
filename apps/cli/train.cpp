// heed train: from a config to a model folder, with checkpoints on the way.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>

#include "heed/base/file.h"
#include "heed/train/trainer.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

std::atomic<bool> stop_wanted = false;

// The first signal asks for a checkpoint; a second one ends the program as usual.
void ask_to_stop(int signal) {
  stop_wanted = true;
  std::signal(signal, SIG_DFL);
}

class Printer : public TrainEvents {
 public:
  void expect(std::int64_t tokens_of_step) { tokens_of_step_ = tokens_of_step; }
  void phase(const std::string& what) override {
    steps_.reset();
    share_.reset();
    share_ = std::make_unique<ShareProgress>(what + " ");
  }
  void progress(double share) override {
    if (share_) share_->show(share);
  }
  void step(const StepReport& report) override {
    share_.reset();
    if (!steps_) {
      const std::int64_t to_come = (report.steps - report.step + 1) * tokens_of_step_;
      steps_ = std::make_unique<Progress>("", report.steps, to_come, report.step - 1);
    }
    steps_->step_done(report.loss, report.tokens, report.operations);
  }
  void evaluated(const EvaluationReport& report) override {
    share_.reset();
    steps_.reset();
    for (const auto& [head, evaluation] : report.heads) {
      std::string line = fmt::format("step {} {}{}", report.step, report.split, head.empty() ? "" : " " + head);
      for (const auto& [name, value] : evaluation.metrics) line += fmt::format("  {} {:.4f}", name, value);
      fmt::print("{}{}\n", line, report.best && head.empty() ? "  (best so far)" : "");
      if (report.split == "test" && !evaluation.report.empty()) fmt::print("\n{}\n", evaluation.report);
    }
    std::fflush(stdout);
  }

 private:
  std::unique_ptr<ShareProgress> share_;
  std::unique_ptr<Progress> steps_;
  std::int64_t tokens_of_step_ = 1;
};

int run(TrainConfig config, bool resume) {
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  const std::string output = config.output;
  const std::int64_t config_epochs = config.epochs;
  Printer printer;
  Trainer trainer(std::move(config), printer, resume);
  fmt::print("{} samples, {} tokens an epoch, {} parameters to train, {} steps{}\n", trainer.train_data().size(),
             trainer.train_data().tokens(), trainer.parameters(), trainer.total_steps(),
             trainer.steps_done() > 0 ? fmt::format(", {} of them done", trainer.steps_done()) : "");
  std::fflush(stdout);
  printer.expect(trainer.train_data().tokens() * config_epochs / std::max<std::int64_t>(trainer.total_steps(), 1));
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
  verb->add_option("CONFIG", options->config, "JSON, comments allowed; or name=value behind --resume");
  verb->add_option("OVERRIDES", options->overrides, "name=value: optimizer.learning_rate=3e-5");
  verb->add_option("--resume", options->resume, "go on with the run of this output folder");
  verb->add_option("--init", options->init, "write a commented config for classify, tag, mlm, answer or embed");
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

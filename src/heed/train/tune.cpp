#include "heed/train/tune.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/tasks/registry.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Of the first trial's learning rate and epochs; what helps most often comes first.
struct Factors {
  double learning_rate, epochs;
};
constexpr std::array<Factors, kMostTrials> kFactors = {
    {{1, 1}, {2, 1}, {0.5, 1}, {1, 2}, {0.5, 2}, {2, 2}, {4, 1}, {1, 0.5}, {0.25, 2}, {2, 0.5}}};
constexpr std::size_t kMostBytes = 16'000'000;

// One search: its folder, and what is known of the trials so far.
class Tuner {
 public:
  Tuner(const TrainConfig& config, std::int64_t trials, TrainEvents& events)
      : config_(config), trials_(trials), events_(events), folder_(fs::path(config.output) / "tune") {}

  void prepare(bool overwrite);
  TuneResult run();

 private:
  fs::path folder_of(std::int64_t number) const { return folder_ / std::to_string(number); }
  bool is_finished(std::int64_t number) const { return is_there(folder_of(number) / "results.json"); }
  TrainConfig config_of(std::int64_t number) const;
  TrainEnd run_trial(std::int64_t number);
  void read_trial(std::int64_t number);
  void forget_checkpoints();
  TrainEnd finish();

  TrainConfig config_;
  std::int64_t trials_;
  TrainEvents& events_;
  fs::path folder_;
  TuneResult result_{};
};

// tune/config.json says whose search it is. Threads may change.
void Tuner::prepare(bool overwrite) {
  const fs::path file = folder_ / "config.json";
  Json wanted = to_json(config_);
  wanted.erase("threads");
  if (is_there(file) && !overwrite) {
    HEED_CHECK(Json::parse(read_file(file, kMostBytes), nullptr, false) == wanted, folder_.string(),
               ": is a search with another config; choose another output, or give --overwrite to begin anew");
    // What names of the hub stood for when it began.
    const TrainConfig begun = read_train_config(fs::path(config_.output) / "train.json");
    config_.model.from = begun.model.from;
    config_.tokenizer.from = begun.tokenizer.from;
    return;
  }
  config_ = with_found_models(std::move(config_));
  prepare_output(config_, overwrite ? RunStart::overwrite : RunStart::fresh);
  remove_left(folder_);
  replace_file(fs::path(config_.output) / "train.json", to_json(config_).dump(2) + "\n");
  make_folder(folder_);
  replace_file(file, wanted.dump(2) + "\n");
}

TrainConfig Tuner::config_of(std::int64_t number) const {
  TrainConfig config = config_;
  config.output = folder_of(number).string();
  config.data.test.clear();
  if (number == 1) return config;
  const TuneTrial& first = result_.trials[0];
  const Factors& factors = kFactors[static_cast<std::size_t>(number - 1)];
  config.optimizer.learning_rate = first.learning_rate * factors.learning_rate;
  config.epochs = std::max<std::int64_t>(1, std::llround(static_cast<double>(first.epochs) * factors.epochs));
  return config;
}

// A learning rate that is too high for a finite loss is a finding; all else that goes wrong ends the search.
TrainEnd Tuner::run_trial(std::int64_t number) {
  const TrainConfig config = config_of(number);
  std::string what = "trial " + std::to_string(number) + " of " + std::to_string(trials_);
  if (number > 1) {
    what += ": optimizer.learning_rate " + Json(config.optimizer.learning_rate).dump() + ", epochs " +
            std::to_string(config.epochs);
  }
  events_.note(what);
  Trainer trainer(config, events_, RunStart::resume);
  try {
    return trainer.run();
  } catch (const Error& error) {
    if (number == 1 || error.kind() != ErrorKind::invalid_argument) throw;
    events_.note(error.what());
    return TrainEnd::stopped_early;
  }
}

void Tuner::read_trial(std::int64_t number) {
  const fs::path folder = folder_of(number);
  const TrainConfig config = read_train_config(folder / "train.json");
  TuneTrial trial{.learning_rate = config.optimizer.learning_rate, .epochs = config.epochs};
  if (is_finished(number)) {
    const std::string where = (folder / "results.json").string();
    const Json results = parse_json(read_file(where, kMostBytes), where);
    HEED_CHECK(results.contains("judged_by"),
               "[tune] there are too few rows to hold some out to judge by; give data.dev");
    const Json& judged_by = results["judged_by"];
    if (!judged_by["best"].is_null()) trial.score = json_required<double>(judged_by, "best", where);
    result_.metric = json_required<std::string>(judged_by, "metric", where);
  }
  const auto best = result_.trials.empty() ? std::nullopt : result_.trials[result_.best].score;
  const bool higher = task_named(config_.task).higher_is_better(result_.metric);
  if (trial.score && (!best || (higher ? *trial.score > *best : *trial.score < *best))) {
    result_.best = result_.trials.size();
  }
  result_.trials.push_back(trial);
}

// Only the best one's are needed any more.
void Tuner::forget_checkpoints() {
  for (std::size_t i = 0; i < result_.trials.size(); ++i) {
    if (i != result_.best) remove_left(folder_of(static_cast<std::int64_t>(i) + 1) / "checkpoints");
  }
}

// The best run goes on in config.output from its last checkpoint, where only saving and the results are left to do.
TrainEnd Tuner::finish() {
  const fs::path output = config_.output, from = folder_of(static_cast<std::int64_t>(result_.best) + 1);
  TrainConfig config = read_train_config(from / "train.json");
  config.output = config_.output;
  config.data.test = config_.data.test;
  config.threads = config_.threads;
  for (const char* name : {"results.json", "checkpoints", "log.jsonl", "tokenizer.json"}) remove_left(output / name);
  for (const char* name : {"checkpoints", "log.jsonl", "tokenizer.json"}) {
    std::error_code error;
    fs::copy(from / name, output / name, fs::copy_options::recursive, error);
    HEED_CHECK_AS(io, !error, (output / name).string(), ": cannot be written: ", error.message());
  }
  return Trainer(config, events_, RunStart::resume).run();
}

TuneResult Tuner::run() {
  bool found_more = !is_there(fs::path(config_.output) / "results.json");
  for (std::int64_t number = 1; number <= trials_; ++number) {
    if (!is_finished(number)) {
      found_more = true;
      result_.end = run_trial(number);
      if (result_.end == TrainEnd::interrupted) return result_;
    }
    read_trial(number);
    forget_checkpoints();
  }
  result_.end = found_more ? finish() : TrainEnd::finished;
  return result_;
}

}  // namespace

TuneResult tune(const TrainConfig& config, std::int64_t trials, TrainEvents& events, bool overwrite) {
  HEED_CHECK(trials >= 2 && trials <= kMostTrials, "[tune] ", trials, " trials, expected 2 to ", kMostTrials);
  HEED_CHECK(!config.data.dev.empty() || config.data.dev_share > 0,
             "[tune] trials are judged on dev: give data.dev, or a data.dev_share above 0");
  Tuner tuner(config, trials, events);
  tuner.prepare(overwrite);
  return tuner.run();
}

}  // namespace heed

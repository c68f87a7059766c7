// The training loop. A run is a pure function of its config, data and starting weights: neither threads nor being
// killed and resumed change a bit of what comes out.
//   Trainer trainer(read_train_config("sst2.json"), events);
//   trainer.run();
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/batch_plan.h"
#include "heed/tasks/evaluate.h"
#include "heed/train/best_model.h"
#include "heed/train/head_plan.h"
#include "heed/train/lora.h"
#include "heed/train/optimizer.h"
#include "heed/train/output_folder.h"
#include "heed/train/run_log.h"
#include "heed/train/schedule.h"
#include "heed/train/train.h"

namespace heed {

struct StepReport {
  std::int64_t step = 0, steps = 0;  // done, of all
  std::int64_t epoch = 0;
  std::int64_t tokens = 0, tokens_to_come = 0;  // of this step, and about how many are to come
  double loss = 0, learning_rate = 0, gradient_norm = 0;
  double operations = 0;  // multiplications and additions of the model's matrices, forward and backward
};

struct EvaluationReport {
  std::string split{};  // dev or test
  std::int64_t step = 0;
  std::vector<std::pair<std::string, Evaluation>> heads{};  // by name
  bool best = false;
};

// Receives reports about a run. The library itself prints nothing.
class TrainEvents {
 public:
  virtual ~TrainEvents() = default;
  virtual void phase(const std::string& /*what*/) {}
  virtual void note(const std::string& /*something to know*/) {}
  virtual void progress(double /*share of the phase*/) {}
  virtual void step(const StepReport& /*report*/) {}
  virtual void evaluated(const EvaluationReport& /*report*/) {}
  virtual void saved(const std::string& /*file*/) {}
};

class Trainer {
 public:
  // Prepares everything (train/output_folder.h). RunStart::resume goes on from the newest checkpoint of config.output.
  Trainer(TrainConfig config, TrainEvents& events, RunStart start = RunStart::fresh);
  ~Trainer();

  // Trains to the end and saves the model. When the thread is to stop (StopScope), even in the middle of a step or of
  // an evaluation, saves a checkpoint and returns `interrupted`.
  TrainEnd run();

  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t steps_done() const { return step_; }
  // Whose weights the saved model has: the best on dev, or else the last.
  std::int64_t kept_step() const { return best_.step > 0 ? best_.step : step_; }
  bool judged() const { return best_.score.has_value(); }  // by a finite number on dev
  std::int64_t parameters() const;                         // that are trained
  const Dataset& train_data() const { return *train_; }

 private:
  struct HeadRun {
    HeadPlan plan;
    std::unique_ptr<Model> model;  // all share the backbone of the first
    double passes = 3;             // what a step costs of the head alone, in forward passes
  };

  void prepare_tokenizer();
  void prepare_data();
  void tell_about_data();
  void check_metric() const;
  void prepare_models();
  void prepare_weights();
  void check_adapter() const;
  void choose_settings();
  void prepare_optimizer();
  BatchPlan plan_of(std::int64_t epoch) const;
  std::int64_t steps_of_epoch(std::int64_t epoch) const;
  double passes_of_step() const;

  const Model& main_model() const { return *heads_[0].model; }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(config_.seed); }
  void take_step(std::optional<BatchPlan>& plan);
  StepReport train_step(const BatchPlan& plan, std::int64_t batches);
  void update(StepReport& report);
  void check_finite(const StepReport& report) const;
  EvaluationReport evaluate(Dataset& data, const std::string& split);
  void evaluate_dev();
  std::string criterion_name(std::size_t head) const;
  double criterion(const EvaluationReport& report) const;
  void log_weights_and_attention();
  bool ended_early() const;
  bool is_saved() const;

  std::filesystem::path checkpoint_folder() const;
  TensorMap weight_tensors() const;
  void save_config() const;
  void save();
  void save_best();
  void save_model() const;
  void save_weights(std::size_t head, const std::filesystem::path& folder) const;
  void report_results();
  void use_best_weights();
  void restore(bool resume);
  void restore_optimizer(const TensorMap& tensors, const std::vector<std::int64_t>& updates);

  TrainConfig config_;
  TrainEvents& events_;
  std::optional<text::Tokenizer> tokenizer_, target_tokenizer_;  // the latter of what it writes, if that is another one
  std::optional<text::SpecialTokens> special_;
  Json tokenizer_config_;
  std::size_t max_tokens_ = 0;
  TaskList tasks_;
  std::vector<HeadRun> heads_;
  std::unique_ptr<Dataset> train_, dev_, test_;

  std::vector<PlacedParameter> weights_, trained_;  // all, and those that the optimizer changes
  std::unique_ptr<Lora> lora_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Tensor> averages_;  // of trained_, if config.ema
  Schedule schedule_;
  std::int64_t total_steps_ = 0, steps_of_first_epoch_ = 0;
  double passes_ = 3;  // what a step costs of the backbone, in forward passes

  // The place in the run.
  std::int64_t step_ = 0, epoch_ = 0, batch_ = 0;
  bool evaluation_due_ = false;  // of the model after this step
  BestModel best_;
  std::unique_ptr<RunLog> log_;
};

}  // namespace heed

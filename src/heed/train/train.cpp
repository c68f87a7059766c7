#include "heed/train/train.h"

#include "heed/train/trainer.h"

namespace heed {
namespace {

// Hands on what the caller wants to hear, and keeps the last evaluation of each split: that of the model that is saved.
class Listener : public TrainEvents {
 public:
  Listener(const TrainCall& call, TrainResult& result) : call_(call), result_(result) {}

  void phase(const std::string& what) override {
    if (call_.on_note) call_.on_note(what);
  }
  void note(const std::string& what) override {
    if (call_.on_note) call_.on_note(what);
  }
  void step(const StepReport& report) override {
    if (call_.on_step) call_.on_step({report.step, report.steps, report.loss, report.learning_rate});
  }
  void evaluated(const EvaluationReport& report) override {
    auto& metrics = report.split == "test" ? result_.test : result_.dev;
    metrics.clear();
    for (const auto& [head, evaluation] : report.heads) {
      for (const auto& [name, value] : evaluation.metrics) metrics[head.empty() ? name : head + "." + name] = value;
    }
  }

 private:
  const TrainCall& call_;
  TrainResult& result_;
};

}  // namespace

TrainResult train(const std::filesystem::path& config, const TrainCall& call) {
  const TrainConfig settings = read_train_config(config, call.settings);
  TrainResult result{.folder = settings.output};
  Listener listener(call, result);
  const RunStart start = call.resume ? RunStart::resume : call.overwrite ? RunStart::overwrite : RunStart::fresh;
  Trainer trainer(settings, listener, start);
  result.end = trainer.run();
  result.steps = trainer.steps_done();
  return result;
}

}  // namespace heed

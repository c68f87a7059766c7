#include "heed/train/evaluation_run.h"

#include <cmath>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/tasks/data_notes.h"
#include "heed/tasks/registry.h"
#include "heed/text/special_tokens.h"
#include "heed/train/head_plan.h"

namespace heed {
namespace {

// The config of the run that wrote the folder.
std::optional<TrainConfig> trained_config(const LoadedModel& model) {
  const std::filesystem::path file = model.folder().path() / "train.json";
  if (!std::filesystem::exists(file)) return {};
  return read_train_config(file);
}

}  // namespace

const Task* default_task(const LoadedModel& model) {
  const auto config = trained_config(model);
  return config ? find_task(config->task) : usual_task(model.model());
}

EvaluationRun::EvaluationRun(const LoadedModel& model, const Task& task, const Json& given,
                             std::vector<DataSource> sources)
    : model_(model) {
  model.require(task);
  TaskSetup setup = model.setup();
  Json options = Json::object();
  std::vector<std::string> label_names;
  if (const auto config = trained_config(model)) {
    seed_ = static_cast<std::uint64_t>(config->seed);
    options = task_options(*config, task);
    if (task.name == config->task) label_names = config->data.label_names;
    setup.max_tokens = run_max_tokens(*config, model.model().info(),
                                      text::read_settings(model.folder().tokenizer() / "tokenizer_config.json"));
  }
  options.update(given);
  tasks_.push_back(task.make_trainable(setup, options));
  std::vector<std::vector<DataSource>> files;
  for (DataSource& source : sources) {
    if (source.needs.empty()) source.needs = task.rows;
    source.chats = task.chats;
    if (source.label_names.empty()) source.label_names = label_names;
    files.push_back({std::move(source)});
  }
  data_ = std::make_unique<Dataset>(files, tasks_, Purpose::evaluate);
  data_->index();
  HEED_CHECK_AS(bad_format, data_->rows() > 0, "[eval] the data has no rows");
  notes_ = data_notes(*data_, tasks_, "the data", "the model");
}

Evaluation EvaluationRun::evaluate(const std::function<void(double)>& progress) {
  const Model* model = &model_.model();
  Evaluation evaluation = heed::evaluate(std::span(&model, 1), tasks_, *data_, seed_, progress).front();
  HEED_CHECK_AS(internal, !std::isnan(evaluation.metrics.at("loss")), "[eval] the loss is not a number: the scores of ",
                model_.folder().path().string(), " are NaN");
  return evaluation;
}

}  // namespace heed

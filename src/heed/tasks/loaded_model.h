// A model folder in memory: the model, its tokenizer and their settings. Const calls are safe from several threads at
// once. Tasks are asked of it by run_task(), or by the functions of their own headers.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/tasks/task.h"

namespace heed {

// Cheap to copy: copies share the weights.
class LoadedModel {
 public:
  // Throws what reading a folder throws: not_found, bad_format, with the file and the field. A batch of predictions has
  // at most `token_budget` tokens, or one sequence.
  LoadedModel(const std::filesystem::path& directory, std::size_t token_budget);

  const ModelFolder& folder() const { return parts_->folder; }
  const Model& model() const { return *parts_->model; }
  const text::Tokenizer& tokenizer() const { return parts_->tokenizer; }
  const text::SpecialTokens& special() const { return parts_->special; }
  const std::vector<std::string>& labels() const { return model().config().labels; }
  // The longest sequence, special tokens included, that the model and its tokenizer allow.
  std::size_t max_tokens() const { return parts_->max_tokens; }
  std::size_t token_budget() const { return parts_->token_budget; }

  // Whether the task can be asked of this model.
  bool supports(std::string_view task) const { return task_named(task).supports(model()); }
  // Throws invalid_argument for a model that does not support the task.
  void require(const Task& task) const;
  TaskSetup setup() const;
  std::unique_ptr<TaskRun> make(const Task& task, const Json& options = Json::object()) const;

 private:
  struct Parts {
    Parts(const std::filesystem::path& directory, std::size_t budget);
    ModelFolder folder;
    std::unique_ptr<Model> model;
    text::Tokenizer tokenizer;
    text::SpecialTokens special;
    std::size_t max_tokens, token_budget;
  };
  std::shared_ptr<const Parts> parts_;
};

// What the task finds out about each row, in their order and the same bits whatever else is in the call (law 1).
// Throws cancelled when `stop` says so, between batches or layers.
std::vector<std::unique_ptr<Finding>> run_task(const LoadedModel& model, const TaskRun& task, std::vector<Row> rows,
                                               const StopToken& stop = {});

// The same by name, from requests to answers in JSON.
std::vector<Json> run_task(const LoadedModel& model, std::string_view task, std::span<const Json> requests,
                           const Json& options = Json::object(), const StopToken& stop = {});

// The findings of a task that makes findings of this type.
template <class Found, class Result>
std::vector<Result> results_of(std::vector<std::unique_ptr<Finding>> findings, Result Found::*member) {
  std::vector<Result> results;
  results.reserve(findings.size());
  for (auto& finding : findings) results.push_back(std::move(static_cast<Found&>(*finding).*member));
  return results;
}

// exp(x - max) / sum, in place.
void softmax_in_place(std::span<double> values);

}  // namespace heed

// The evaluation of a model folder. A folder that training wrote is scored as training scored it: with the options, the
// seed and the longest sequence of the train.json in it, unless others are given.
#pragma once

#include "heed/tasks/evaluate.h"
#include "heed/tasks/run_task.h"

namespace heed {

// What the folder was trained for, or else what models with its head are made for; null if there is no such task.
const Task* default_task(const LoadedModel& model);

class EvaluationRun {
 public:
  // `given` are options of the task; sources are the files, with the columns to read. Throws bad_format for data
  // without rows, and without a label that the model has.
  EvaluationRun(const LoadedModel& model, const Task& task, const Json& given, std::vector<DataSource> sources);

  // Throws internal for a model whose loss is NaN.
  Evaluation evaluate(const std::function<void(double)>& progress = {});
  // What people should know about the data (tasks/data_notes.h).
  const std::vector<std::string>& notes() const { return notes_; }
  std::size_t rows() const { return data_->rows(); }
  std::size_t bad_rows() const { return data_->bad_rows().count; }

 private:
  LoadedModel model_;
  std::uint64_t seed_ = 1;
  TaskList tasks_;
  std::unique_ptr<Dataset> data_;
  std::vector<std::string> notes_;
};

}  // namespace heed

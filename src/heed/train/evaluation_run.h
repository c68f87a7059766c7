// The evaluation of a model folder. A folder that training wrote is scored as training scored it: with the options, the
// seed and the longest sequence of the train.json in it, unless others are given.
#pragma once

#include "heed/tasks/evaluate.h"
#include "heed/tasks/loaded_model.h"

namespace heed {

// What the folder was trained for, or else what models with its head are made for; null if there is no such task.
const Task* default_task(const LoadedModel& model);

class EvaluationRun {
 public:
  // `given` are options of the task; sources are the files, with the columns to read.
  EvaluationRun(const LoadedModel& model, const Task& task, const Json& given, std::vector<DataSource> sources);

  // Throws bad_format for data without rows.
  Evaluation evaluate(const std::function<void(double)>& progress = {});
  std::size_t rows() const { return data_->rows(); }
  std::size_t bad_rows() const { return data_->bad_rows(); }

 private:
  LoadedModel model_;
  std::uint64_t seed_ = 1;
  TaskList tasks_;
  std::unique_ptr<Dataset> data_;
};

}  // namespace heed

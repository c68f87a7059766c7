// Asking tasks of a model: rows, or requests in JSON, to findings.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heed/tasks/loaded_model.h"
#include "heed/tasks/task.h"

namespace heed {

// A row from the fields of a request. Throws bad_format with `where`.
Row request_row(const Task& task, const Json& request, const std::string& where);

// The task bound to the model. Throws invalid_argument for a model that does not support the task.
std::unique_ptr<TaskRun> make_task(const LoadedModel& model, const Task& task, const Json& options = Json::object());

// TaskRun::run(), for the usual call.
inline std::vector<std::unique_ptr<Finding>> run_task(const LoadedModel& model, const TaskRun& task,
                                                      std::vector<Row> rows, const TaskCall& call = {}) {
  return task.run(model, std::move(rows), call);
}

// A task by name, from requests to answers in JSON.
std::vector<Json> run_task(const LoadedModel& model, std::string_view task, std::span<const Json> requests,
                           const Json& options = Json::object(), const StopToken& stop = StopScope::current());

// The findings of a task that makes findings of this type.
template <class Found, class Result>
std::vector<Result> results_of(std::vector<std::unique_ptr<Finding>> findings, Result Found::*member) {
  std::vector<Result> results;
  results.reserve(findings.size());
  for (auto& finding : findings) results.push_back(std::move(static_cast<Found&>(*finding).*member));
  return results;
}

// The longest sequence by a tokenizer_config.json, at most `most`.
std::size_t tokenizer_limit(const Json& tokenizer_config, const std::string& where, std::size_t most);

// exp(x - max) / sum, in place.
void softmax_in_place(std::span<double> values);

}  // namespace heed

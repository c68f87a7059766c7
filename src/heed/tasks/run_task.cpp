#include "heed/tasks/run_task.h"

#include <algorithm>
#include <cmath>

namespace heed {

std::unique_ptr<TaskRun> make_task(const LoadedModel& model, const Task& task, const Json& options) {
  model.require(task);
  return task.make(model.setup(), options);
}

std::vector<Json> run_task(const LoadedModel& model, std::string_view name, std::span<const Json> requests,
                           const Json& options, const StopToken& stop) {
  const Task& task = task_named(name);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    rows.push_back(request_row(task, requests[i], "request " + std::to_string(i)));
  }
  std::vector<Json> answers;
  for (const auto& finding : make_task(model, task, options)->run(model, std::move(rows), {.stop = stop})) {
    answers.push_back(finding->json());
  }
  return answers;
}

// HuggingFace writes 1e30 for "no limit", so the number may be any.
std::size_t tokenizer_limit(const Json& tokenizer_config, const std::string& where, std::size_t most) {
  const auto limit = json_optional<double>(tokenizer_config, "model_max_length", 0, where);
  return limit >= 1 && limit < static_cast<double>(most) ? static_cast<std::size_t>(limit) : most;
}

void softmax_in_place(std::span<double> values) {
  if (values.empty()) return;
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
}

}  // namespace heed

#include "heed/tasks/run_task.h"

#include <algorithm>
#include <cmath>

#include "heed/base/join.h"
#include "heed/tasks/registry.h"

namespace heed {
namespace {

// "id, comment": what a request has, for error messages.
std::string names_of(const Json& request) {
  return request.empty() ? "nothing" : join(request.items(), ", ", [](const auto& item) { return item.key(); });
}

}  // namespace

Row request_row(const Task& task, const Json& request, const std::string& where) {
  Row row{.file = where};
  bool any = false, has_text = false;
  for (const RequestField& field : task.request) {
    const Json* given = detail::json_find(request, field.name, where);
    if (!given || given->is_null()) {
      HEED_CHECK_AS(bad_format, field.optional, where, ": ", field.name, " is missing (", field.help, "); there is ",
                    names_of(request));
      continue;
    }
    any = true;
    const auto text = [&] { return json_as<std::string>(*given, field.name, where); };
    const auto list = [&] {
      return given->is_string() ? std::vector{text()} : json_as<std::vector<std::string>>(*given, field.name, where);
    };
    switch (field.row) {
      case RowField::text: {
        // A second text follows the first one.
        HEED_CHECK_AS(bad_format, !has_text || !row.pair, where, ": has too many texts, ", names_of(request),
                      "; leave one out");
        std::string& place = has_text ? row.pair.emplace() : row.text;
        place = text();
        has_text = true;
        break;
      }
      case RowField::pair: row.pair = text(); break;
      case RowField::texts: row.texts = list(); break;
      case RowField::words: row.words = list(); break;
      case RowField::messages: row.messages = given->dump(); break;
      default: fail(ErrorKind::internal, "[", task.name, "] requests have no ", field.name);
    }
  }
  HEED_CHECK_AS(bad_format, any, where, ": ", task.request.back().name, " is missing (", task.request.back().help,
                "); there is ", names_of(request));
  return row;
}

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

#include "heed/train/head_plan.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/tasks/registry.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

std::string sharing_tasks() {
  std::vector<std::string> names;
  for (const Task* task : tasks()) {
    if (task->trains() && task->shares_input) names.push_back(task->name);
  }
  return join_or(names);
}

// An object of config.heads. It reads the text of the main head; options of its task stand beside its own fields.
HeadPlan read_head(const TrainConfig& config, const Json& object, const HeadPlan& main, const std::string& where) {
  HEED_CHECK_AS(bad_format, object.is_object(), where, " is ", detail::json_kind(object), ", expected an object");
  const auto task_name = json_required<std::string>(object, "task", where);
  const Task* task = find_task(task_name);
  HEED_CHECK_AS(bad_format, task && task->shares_input, where, ": task is \"", task_name, "\", expected ",
                sharing_tasks(), ": other tasks change the input and cannot share it");
  HeadPlan plan{.name = json_required<std::string>(object, "name", where),
                .task = task,
                .options = task_options(config, *task),
                .columns = main.columns,
                .weight = json_optional<double>(object, "weight", 1, where)};
  plan.columns.label.clear();
  plan.columns.score.clear();
  std::vector<std::string> known = {"name", "task", "weight"};
  for (const Column& column : kColumns) {
    known.emplace_back(column.name);
    std::string& place = plan.columns.*column.place;
    place = json_optional<std::string>(object, std::string(column.name), place, where);
  }
  for (const OptionInfo& option : task->options.list()) {
    if (!(option.uses & kForTrain)) continue;
    known.push_back(option.name);
    if (object.contains(option.name)) plan.options[option.name] = object[option.name];
  }
  for (const auto& [key, value] : object.items()) {
    HEED_CHECK_AS(bad_format, std::ranges::find(known, key) != known.end(), where, ": there is no field ", key,
                  did_you_mean(key, known));
  }
  plan.options = task->options.complete(plan.options, where, "");
  const bool plain = !plan.name.empty() && plan.name.find('/') == std::string::npos && plan.name[0] != '.';
  HEED_CHECK_AS(bad_format, plain, where, ": name is \"", plan.name, "\", expected the name of a folder");
  HEED_CHECK_AS(bad_format, plan.weight > 0, where, ": weight is ", plan.weight, ", expected more than 0");
  return plan;
}

}  // namespace

Json task_options(const TrainConfig& config, const Task& task) {
  const auto given = config.tasks.find(task.name);
  return task.options.complete(given == config.tasks.end() ? Json::object() : given->second, "config", task.name + ".");
}

std::vector<HeadPlan> head_plans(const TrainConfig& config) {
  const Task& task = task_named(config.task);
  std::vector<HeadPlan> plans = {
      {.task = &task, .options = task_options(config, task), .columns = config.data.columns}};
  HEED_CHECK_AS(bad_format, config.heads.empty() || task.shares_input, "heads: a model for ", task.name,
                " has no further heads, expected task ", sharing_tasks());
  for (std::size_t i = 0; i < config.heads.size(); ++i) {
    plans.push_back(read_head(config, config.heads[i], plans[0], "heads[" + std::to_string(i) + "]"));
  }
  return plans;
}

TrainConfig config_of_head(const TrainConfig& config, const HeadPlan& plan) {
  if (plan.name.empty()) return config;
  TrainConfig alone = config;
  alone.task = plan.task->name;
  alone.output = (std::filesystem::path(config.output) / plan.name).string();
  alone.tasks = {{alone.task, plan.options}};
  alone.heads.clear();
  alone.data.label_names.clear();
  alone.data.columns = plan.columns;
  return alone;
}

std::size_t run_max_tokens(const TrainConfig& config, const ModelInfo& model, const Json& tokenizer_config) {
  constexpr std::int64_t kUsualMaxTokens = 512;
  const std::int64_t wanted = config.model.max_tokens;
  HEED_CHECK(wanted <= model.max_tokens, "[train] model.max_tokens is ", wanted, ", but the model takes ",
             model.max_tokens);
  const auto most = static_cast<std::size_t>(wanted > 0 ? wanted : std::min(model.max_tokens, kUsualMaxTokens));
  return wanted > 0 ? most : tokenizer_limit(tokenizer_config, "tokenizer_config.json", most);
}

std::vector<std::vector<DataSource>> data_sources(const TrainConfig& config, const std::vector<HeadPlan>& plans,
                                                  const std::vector<std::string>& files) {
  std::vector<std::vector<DataSource>> sources;
  for (const std::string& file : files) {
    auto& heads = sources.emplace_back();
    for (const HeadPlan& plan : plans) {
      const bool main = &plan == &plans.front();
      heads.push_back({.file = file,
                       .format = config.data.format,
                       .needs = plan.task->rows,
                       .chats = plan.task->chats,
                       .columns = plan.columns,
                       .header = config.data.header,
                       .label_first = config.data.label_first,
                       .label_separator = config.data.label_separator.empty() ? '\0' : config.data.label_separator[0],
                       .separator = config.data.separator.empty() ? '\0' : config.data.separator[0],
                       .label_names = main ? config.data.label_names : std::vector<std::string>(),
                       .max_bad_rows = static_cast<std::size_t>(config.data.max_bad_rows)});
    }
  }
  return sources;
}

}  // namespace heed

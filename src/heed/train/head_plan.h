// The heads of a run: the main one, and those of config.heads, which share its backbone and its tokens.
#pragma once

#include "heed/data/readers.h"
#include "heed/tasks/task.h"
#include "heed/train/config.h"

namespace heed {

struct HeadPlan {
  std::string name{};  // "" for the main one; else the folder it is saved in
  const Task* task = nullptr;
  Json options = Json::object();  // of the task
  Columns columns{};
  double weight = 1;
};
std::vector<HeadPlan> head_plans(const TrainConfig& config);

// All options of a task: those of the config over the defaults.
Json task_options(const TrainConfig& config, const Task& task);

// The config of a run that has this head alone: what its folder is scored by.
TrainConfig config_of_head(const TrainConfig& config, const HeadPlan& plan);

// For each file of the data the columns of each head.
std::vector<std::vector<DataSource>> data_sources(const TrainConfig& config, const std::vector<HeadPlan>& plans,
                                                  const std::vector<std::string>& files);

// The longest sequence of a run: config.model.max_tokens, or else what the tokenizer's settings allow, up to 512.
// Throws invalid_argument for more than the model takes.
std::size_t run_max_tokens(const TrainConfig& config, const ModelInfo& model, const Json& tokenizer_config);

}  // namespace heed

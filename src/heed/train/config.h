// What `heed train` does: one JSON file, comments allowed, whose every field is listed once, in fields() and by the
// tasks (tasks/task.h). Reading, writing, overriding from the command line, suggesting the nearest name and the
// commented starter all walk these lists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "heed/data/columns.h"

namespace heed {

struct TrainConfig {
  std::string task, output;
  std::int64_t seed = 1;
  std::int64_t threads = 0;

  struct {
    std::string from;
    Json architecture = Json::object();
    std::int64_t max_tokens = 0;
    std::vector<std::string> freeze;
    bool recompute = false;
  } model;
  struct {
    std::string from, train, chat_template;
    std::int64_t vocab_size = 8000;
    std::vector<std::string> files;
  } tokenizer;
  struct {
    std::vector<std::string> train, dev, test;
    double dev_share = 0.1;
    Columns columns;
    std::string format, separator, label_separator;
    std::vector<std::string> label_names;
    bool header = true, label_first = false;
    std::int64_t max_bad_rows = 0;
  } data;

  std::map<std::string, Json> tasks;  // options of tasks by their names; not set: the defaults
  std::vector<Json> heads;

  // Where epochs, batch.tokens and optimizer.learning_rate are 0 and evaluate.patience is -1, train/recipe.h chooses.
  std::int64_t epochs = 0, max_steps = 0;
  struct {
    std::int64_t tokens = 0, sequences = 0, accumulate = 1;
    bool shuffle = true, by_length = true;
  } batch;
  struct {
    std::string name = "adamw";
    double learning_rate = 0, weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, momentum = 0.9;
    double clip = 1, layer_decay = 1;
  } optimizer;
  struct {
    std::string decay = "linear";
    double warmup = 0.1;
  } schedule;
  double ema = 0;
  struct {
    std::int64_t rank = 0;
    double alpha = 16;
    std::vector<std::string> targets = {"query_key_value"};
    bool merge = true;
  } lora;
  struct {
    std::int64_t every = 0, patience = -1;
    std::string metric;
  } evaluate;
  struct {
    std::int64_t every = 0, keep = 2;
  } save;
  struct {
    std::int64_t every = 20;
    bool tensorboard = true;
  } log;

  // All but those of tasks, named by group: "batch.tokens".
  Fields fields();
};

// The file's fields over the defaults, then "name=value" one by one. Unknown names are refused with the nearest known
// one; relative paths stay as they are.
TrainConfig read_train_config(const std::filesystem::path& file, std::span<const std::string> overrides = {});
TrainConfig parse_train_config(std::string_view text, const std::string& name,
                               std::span<const std::string> overrides = {});

// The same with the folders of models that were pulled, where model.from or tokenizer.from is a name of the hub. Throws
// not_found.
TrainConfig with_found_models(TrainConfig config);

// All fields, as JSON.
Json to_json(const TrainConfig& config);

// The JSON Schema of such a file: each field's type, words, default and help, for editors and other programs.
Json train_config_schema();

// A commented file to begin with. Throws invalid_argument for a task that is not known.
std::string starter_config(const std::string& task);

}  // namespace heed

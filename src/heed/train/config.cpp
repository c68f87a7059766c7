#include "heed/train/config.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/data/readers.h"
#include "heed/io/hub.h"
#include "heed/models/model_config.h"
#include "heed/tasks/registry.h"

namespace heed {
namespace {

// The text with comments (// to the end of the line, /* */) blanked out, so that places in messages stay right.
std::string without_comments(std::string text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
      continue;
    }
    if (text[i] == '"') in_string = true;
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && text[i] != '\n') text[i++] = ' ';
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", i + 2), text.size() - 2);
      for (; i < end + 2; ++i) {
        if (text[i] != '\n') text[i] = ' ';
      }
      --i;
    }
  }
  return text;
}

// A field as people see it.
struct ListedField {
  std::string name;
  Json value;
  std::string help;
  Json schema;
};

// Columns go by name, or by number from 0.
bool is_column(std::string_view name) {
  constexpr std::string_view kColumns[] = {"data.text", "data.pair", "data.words", "data.label", "data.score"};
  return std::ranges::find(kColumns, name) != std::end(kColumns);
}

// All fields in the order of the starter: those of tasks follow those of the data.
std::vector<ListedField> listed(const TrainConfig& config) {
  std::vector<ListedField> list;
  TrainConfig copy = config;
  for (const Field& field : copy.fields()) {
    if (field.name == "heads") {
      for (const Task* task : tasks()) {
        if (!task->trains()) continue;
        for (const OptionInfo& option : task->options.list()) {
          if (!(option.uses & kForTrain)) continue;
          const auto given = config.tasks.find(task->name);
          list.push_back({task->name + "." + option.name,
                          given == config.tasks.end() ? option.value : given->second.at(option.name), option.help,
                          option.schema});
        }
      }
    }
    list.push_back({field.name, field.json(), field.help, field.schema()});
    if (is_column(field.name)) list.back().schema["type"] = {"string", "integer"};
  }
  return list;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const ListedField& field : listed(TrainConfig())) names.push_back(field.name);
  return names;
}

void set_one(TrainConfig& config, const std::string& name, const Json& value, const std::string& where) {
  const auto names = field_names();
  HEED_CHECK_AS(bad_format, std::ranges::find(names, name) != names.end(), where, ": there is no field ", name,
                did_you_mean(name, names));
  const std::size_t dot = name.find('.');
  const Task* task = dot == std::string::npos ? nullptr : find_task(name.substr(0, dot));
  if (task) {
    config.tasks[task->name][name.substr(dot + 1)] = value;
  } else {
    set_field(config.fields(), name, is_column(name) && value.is_number_unsigned() ? Json(value.dump()) : value, where);
  }
}

void set_all(TrainConfig& config, const Json& object, const std::string& prefix, const std::string& where) {
  HEED_CHECK_AS(bad_format, object.is_object(), where, ": ", prefix.empty() ? "the file" : prefix, " is ",
                detail::json_kind(object), ", expected an object");
  const auto names = field_names();
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    const bool group =
        std::ranges::any_of(names, [&](const std::string& each) { return each.starts_with(name + "."); });
    if (group) {
      set_all(config, value, name, where);
    } else {
      set_one(config, name, value, where);
    }
  }
}

// "a.b=1": JSON if it is any, else a string.
void apply_override(TrainConfig& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  HEED_CHECK(equals != std::string::npos && equals > 0, "[train] \"", text, "\" is not of the form name=value");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  const Json parsed = Json::parse(value, nullptr, false);
  const std::vector<ListedField> fields = listed(TrainConfig());
  const auto field = std::ranges::find(fields, name, &ListedField::name);
  // Where a text is expected, digits are one.
  const bool is_text = parsed.is_discarded() || (parsed.is_primitive() && !parsed.is_string() &&
                                                 field != fields.end() && field->value.is_string());
  set_one(config, name, is_text ? Json(value) : parsed, "[train] " + text);
}

// Fills in the options of tasks and checks everything.
void complete(TrainConfig& c, const std::string& where) {
  const Task* main = find_task(c.task);
  HEED_CHECK_AS(bad_format, main && main->trains() && main->name == c.task, where, ": task is \"", c.task,
                "\", expected ", join(trainable_tasks(), ", "));
  for (const Task* task : tasks()) {
    if (!task->trains()) continue;
    Json& options = c.tasks[task->name];
    options = task->options.complete(options.is_null() ? Json::object() : options, where, task->name + ".");
  }
  for (const Field& field : c.fields()) field.check(where);
  HEED_CHECK_AS(bad_format, !c.output.empty(), where, ": output is missing: a folder for the model");
  HEED_CHECK_AS(bad_format, !c.data.train.empty(), where, ": data.train is missing: files to train on");
  HEED_CHECK_AS(bad_format, c.model.from.empty() != c.model.architecture.empty(), where,
                ": give either model.from (a folder) or model.architecture (fields of a config.json)");
  if (c.model.from.empty()) static_cast<void>(model_family(c.model.architecture, where + ": model.architecture"));
  HEED_CHECK_AS(bad_format, c.lora.merge || (c.lora.rank > 0 && !c.model.from.empty()), where,
                ": lora.merge is false, which needs lora.rank and, in model.from, the model that the adapter changes");
  HEED_CHECK_AS(bad_format, !c.model.from.empty() || !c.tokenizer.from.empty() || !c.tokenizer.train.empty(), where,
                ": a model from scratch needs tokenizer.from or tokenizer.train");
}

// Whether a starter for the task has the field: those of other tasks are left out.
bool is_for(const Task& task, const std::string& name) {
  const Task* owner = name.find('.') == std::string::npos ? nullptr : find_task(name.substr(0, name.find('.')));
  return !owner || owner == &task;
}

}  // namespace

Fields TrainConfig::fields() {
  Fields list;
  const auto add = [&](Field&& field) { list.push_back(std::move(field)); };
  add(Field("task", task, "task to train for: " + join(trainable_tasks(), ", ")));
  add(Field("output", output, "folder for the model, checkpoints and logs"));
  add(Field("seed", seed, "seed of all random choices; same seed, data and config: same bytes"));
  add(Field("threads", threads, "threads to compute with; 0: all of the machine; the result does not depend on it")
          .where([this] { return threads >= 0 && threads <= 4096; }, "0 to 4096"));
  add(Field("model.from", model.from, "folder of a HuggingFace model to start from"));
  add(Field("model.architecture", model.architecture,
            "fields of a config.json (model_type, hidden_size ...), to train from scratch instead"));
  add(Field("model.max_tokens", model.max_tokens,
            "longest sequence in tokens; 0: what the model and its tokenizer allow, up to 512")
          .at_least(0));
  add(Field("model.freeze", model.freeze,
            "parts of the model that are not trained: embeddings, layers, layers.0, layers.1 ..., pooler, head"));
  add(Field("model.recompute", model.recompute, "gradient checkpointing: less memory, a third more work"));
  add(Field("tokenizer.from", tokenizer.from, "folder of the tokenizer; default: model.from"));
  add(Field("tokenizer.train", tokenizer.train,
            "kind of tokenizer to train first: wordpiece, bpe, unigram, wordlevel or character")
          .one_of({"", "wordpiece", "bpe", "unigram", "wordlevel", "character"}));
  add(Field("tokenizer.vocab_size", tokenizer.vocab_size, "size of the vocabulary of a tokenizer that is trained"));
  add(Field("tokenizer.files", tokenizer.files,
            "text files to train the tokenizer on; default: the texts of data.train"));
  add(Field("tokenizer.chat_template", tokenizer.chat_template,
            "file with a Jinja template for conversations, instead of the model's own; saved with the model"));
  add(Field("data.train", data.train, "files to train on"));
  add(Field("data.dev", data.dev, "files to evaluate on during training; the best model is kept"));
  add(Field("data.dev_share", data.dev_share,
            "share of the rows of data.train to hold out if there is no data.dev, at most 2000 rows; 0: none")
          .where([this] { return data.dev_share >= 0 && data.dev_share <= 0.5; }, "0 to 0.5"));
  add(Field("data.test", data.test, "files to report results on at the end"));
  add(Field("data.format", data.format, "format of the files: " + data_formats() + "; default: by the extension"));
  add(Field("data.text", data.text, "column or field of the text: a name, or a number from 0"));
  add(Field("data.pair", data.pair, "column of the second text"));
  add(Field("data.words", data.words, "column of the words of a tagged sentence"));
  add(Field("data.label", data.label, "column of the label, or of the tags"));
  add(Field("data.score", data.score, "column of the score, for regression and similarity"));
  add(Field("data.label_names", data.label_names, "names of labels that are numbers from 0 in the files"));
  add(Field("data.separator", data.separator,
            "character between the columns of a tsv or csv file; default: a tab, a comma")
          .where([this] { return data.separator.size() <= 1; }, "one character"));
  add(Field("data.label_separator", data.label_separator, "character between several labels of one row")
          .where([this] { return data.label_separator.size() <= 1; }, "one character"));
  add(Field("data.header", data.header, "whether the first row of a tsv or csv file names the columns"));
  add(Field("data.label_first", data.label_first, "whether lines of text begin with a label: \"label text\""));
  add(Field("data.max_bad_rows", data.max_bad_rows, "number of malformed rows to skip before giving up").at_least(0));
  add(Field("heads", heads,
            "further heads on the same backbone: [{\"name\": \"slots\", \"task\": \"tag\", \"label\": \"tags\", "
            "\"weight\": 1}]"));
  add(Field("epochs", epochs, "passes over data.train; 0: chosen by the size of data and model").at_least(0));
  add(Field("max_steps", max_steps, "stop after this many steps; 0: no limit").at_least(0));
  add(Field("batch.tokens", batch.tokens, "most tokens per batch; 0: chosen by the length of the texts").at_least(0));
  add(Field("batch.sequences", batch.sequences, "most examples per batch; 0: no limit").at_least(0));
  add(Field("batch.accumulate", batch.accumulate, "batches per step; the step is that of one large batch").at_least(1));
  add(Field("batch.shuffle", batch.shuffle, "shuffle the examples; false: keep the order of the files"));
  add(Field("batch.by_length", batch.by_length,
            "put examples of similar length into a batch; batches come in random order"));
  add(Field("optimizer.name", optimizer.name, "optimizer to use: adamw, adam, sgd, adagrad or rmsprop")
          .one_of({"adamw", "adam", "sgd", "adagrad", "rmsprop"}));
  add(Field("optimizer.learning_rate", optimizer.learning_rate,
            "learning rate after the warm-up; 0: chosen by the model and the batch")
          .at_least(0));
  add(Field("optimizer.weight_decay", optimizer.weight_decay, "weight decay; biases and norms have none"));
  add(Field("optimizer.beta1", optimizer.beta1, "Adam's beta1, decay of the mean gradient"));
  add(Field("optimizer.beta2", optimizer.beta2, "Adam's beta2, decay of the mean squared gradient"));
  add(Field("optimizer.epsilon", optimizer.epsilon, "Adam's epsilon, added to the denominator"));
  add(Field("optimizer.momentum", optimizer.momentum, "momentum of sgd"));
  add(Field("optimizer.clip", optimizer.clip, "largest norm of the gradient; 0: no limit").at_least(0));
  add(Field("optimizer.layer_decay", optimizer.layer_decay,
            "learning rate of a layer divided by that of the layer above: 0.9, say; 1: all the same")
          .where([this] { return optimizer.layer_decay > 0 && optimizer.layer_decay <= 1; }, "above 0, at most 1"));
  add(Field("schedule.decay", schedule.decay,
            "how the learning rate falls after the warm-up: linear, cosine or constant")
          .one_of({"linear", "cosine", "constant"}));
  add(Field("schedule.warmup", schedule.warmup, "length of the warm-up: a share of all steps if below 1, else steps")
          .at_least(0));
  add(Field("ema", ema, "decay of a moving average of the weights, which is then saved: 0.999, say; 0: none")
          .where([this] { return ema >= 0 && ema < 1; }, "0 to below 1"));
  add(Field("lora.rank", lora.rank, "rank of low-rank additions to train instead of the weights; 0: none").at_least(0));
  add(Field("lora.alpha", lora.alpha, "scale of the additions, alpha / rank * B A"));
  add(Field("lora.targets", lora.targets,
            "weights that get additions, by whole parts of their names: attention.output, feed_forward, layer.0 ..."));
  add(Field("lora.merge", lora.merge,
            "merge the additions on saving; false: save them apart, as an adapter of HuggingFace's PEFT"));
  add(Field("evaluate.every", evaluate.every, "steps between evaluations; 0: after each epoch").at_least(0));
  add(Field("evaluate.patience", evaluate.patience,
            "stop after this many evaluations without a better one; 0: never; -1: half the epochs if those are chosen")
          .where([this] { return evaluate.patience >= -1; }, "-1 or more"));
  add(Field("evaluate.metric", evaluate.metric, "metric that decides which model is best; default: the task's own"));
  add(Field("save.every", save.every, "steps between checkpoints; 0: only before each evaluation").at_least(0));
  add(Field("save.keep", save.keep, "number of checkpoints to keep").at_least(1));
  add(Field("log.every", log.every, "steps between lines of log.jsonl and TensorBoard points").at_least(1));
  add(Field("log.tensorboard", log.tensorboard, "write an event file for TensorBoard"));
  return list;
}

TrainConfig parse_train_config(std::string_view text, const std::string& name, std::span<const std::string> overrides) {
  TrainConfig config;
  set_all(config, parse_json(without_comments(std::string(text)), name), "", name);
  for (const std::string& each : overrides) apply_override(config, each);
  complete(config, name);
  return config;
}

TrainConfig read_train_config(const std::filesystem::path& file, std::span<const std::string> overrides) {
  constexpr std::size_t kMostBytes = 16'000'000;
  return parse_train_config(read_file(file, kMostBytes), file.string(), overrides);
}

TrainConfig with_found_models(TrainConfig config) {
  const auto find = [](std::string& from, std::string_view field) {
    if (from.empty()) return;
    try {
      from = find_model(from).string();
    } catch (const Error& error) {
      fail(error.kind(), field, " (the folder of a model, or owner/name of one that was pulled): ", error.what());
    }
  };
  find(config.model.from, "model.from");
  find(config.tokenizer.from, "tokenizer.from");
  return config;
}

Json to_json(const TrainConfig& config) {
  Json result = Json::object();
  for (const auto& [name, value, help, schema] : listed(config)) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      result[name] = value;
    } else {
      result[name.substr(0, dot)][name.substr(dot + 1)] = value;
    }
  }
  return result;
}

Json train_config_schema() {
  Json properties = Json::object();
  for (const ListedField& field : listed(TrainConfig())) {
    const std::size_t dot = field.name.find('.');
    if (dot == std::string::npos) {
      properties[field.name] = field.schema;
      continue;
    }
    Json& group = properties[field.name.substr(0, dot)];
    if (group.is_null()) group = {{"type", "object"}, {"additionalProperties", false}};
    group["properties"][field.name.substr(dot + 1)] = field.schema;
  }
  Json& task = properties["task"];
  for (const Task* each : tasks()) {
    if (each->trains()) task["enum"].push_back(each->name);
  }
  task.erase("default");
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "heed train"},
          {"description", "What heed train does. Comments (//, /* */) are allowed."},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"task"}},
          {"additionalProperties", false}};
}

std::string starter_config(const std::string& name) {
  const Task* task = find_task(name);
  HEED_CHECK(task && task->trains(), "[train] there is no task \"", name, "\" to train; there are ",
             join(trainable_tasks(), ", "));
  TrainConfig config;
  config.task = task->name;
  config.output = "runs/" + task->name;
  config.model.from = "path/to/model";
  config.data.train = {"train" + task->sample_data};
  config.data.dev = {"dev" + task->sample_data};
  std::string text = "// heed train THIS_FILE [name=value ...]\n{\n", group;
  bool comma = false;  // whether something stands before in this object
  for (const ListedField& field : listed(config)) {
    if (!is_for(*task, field.name)) continue;
    const std::size_t dot = field.name.find('.');
    const std::string next_group = dot == std::string::npos ? "" : field.name.substr(0, dot);
    if (next_group != group) {
      if (!group.empty()) text += "\n  }", comma = true;
      if (!next_group.empty()) {
        text += (comma ? ",\n  \"" : "  \"") + next_group + "\": {\n";
        comma = false;
      }
      group = next_group;
    }
    if (comma) text += ",\n";
    comma = true;
    const std::string indent = group.empty() ? "  " : "    ";
    text += indent + "// " + field.help + "\n";
    text += indent + "\"" + field.name.substr(dot == std::string::npos ? 0 : dot + 1) + "\": " + field.value.dump();
  }
  return text + (group.empty() ? "" : "\n  }") + "\n}\n";
}

}  // namespace heed

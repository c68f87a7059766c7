#include "heed/train/config.h"

#include <algorithm>

#include "heed/base/did_you_mean.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
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
  constexpr std::string_view kData = "data.";
  return name.starts_with(kData) &&
         std::ranges::find(kColumns, name.substr(kData.size()), &Column::name) != std::end(kColumns);
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

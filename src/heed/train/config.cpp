#include "heed/train/config.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/file.h"

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

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  TrainConfig config;
  visit_fields(config, [&](const char* name, auto&, const char*) { names.emplace_back(name); });
  return names;
}

bool is_group(const std::string& name) {
  const auto names = field_names();
  return std::ranges::any_of(names, [&](const std::string& each) { return each.starts_with(name + "."); });
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& where) {
  const std::string nearest = nearest_name(name, field_names());
  fail(ErrorKind::bad_format, where, ": there is no field ", name, "; did you mean ", nearest, "?");
}

template <class T>
void assign(T& field, const Json& value, const std::string& name, const std::string& where) {
  // One item may stand for a list of one, and an empty text for an empty list.
  if constexpr (detail::is_vector<T>) {
    if (value == "") {
      field.clear();
      return;
    }
    if (!value.is_array()) {
      field = {json_as<typename T::value_type>(value, name, where)};
      return;
    }
  }
  field = json_as<T>(value, name, where);
}

void set_field(TrainConfig& config, const std::string& name, const Json& value, const std::string& where) {
  bool found = false;
  visit_fields(config, [&](const char* known, auto& field, const char*) {
    if (known != name) return;
    found = true;
    assign(field, value, name, where);
  });
  if (!found) refuse_unknown(name, where);
}

void set_fields(TrainConfig& config, const Json& object, const std::string& prefix, const std::string& where) {
  HEED_CHECK_AS(bad_format, object.is_object(), where, ": ", prefix.empty() ? "the file" : prefix, " is ",
                detail::json_kind(object), ", expected an object");
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (is_group(name)) {
      set_fields(config, value, name, where);
    } else {
      set_field(config, name, value, where);
    }
  }
}

// "a.b=1": JSON if it is any, else a string.
void apply_override(TrainConfig& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  HEED_CHECK(equals != std::string::npos && equals > 0, "[train] \"", text, "\" is not of the form name=value");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  Json parsed = Json::parse(value, nullptr, false);
  set_field(config, name, parsed.is_discarded() ? Json(value) : parsed, "[train] " + text);
}

void check_choice(const std::string& value, std::initializer_list<std::string_view> choices, const char* name,
                  const std::string& where) {
  if (std::ranges::find(choices, value) != choices.end()) return;
  std::string list;
  for (const std::string_view choice : choices) (list += list.empty() ? "" : ", ") += choice;
  fail(ErrorKind::bad_format, where, ": ", name, " is \"", value, "\", expected ", list);
}

void check_ranges(const TrainConfig& c, const std::string& where) {
  const auto check = [&](bool right, const char* name, auto found, const char* expected) {
    HEED_CHECK_AS(bad_format, right, where, ": ", name, " is ", found, ", expected ", expected);
  };
  check(c.epochs >= 1, "epochs", c.epochs, "at least 1");
  check(c.max_steps >= 0, "max_steps", c.max_steps, "0 or more");
  check(c.threads >= 0 && c.threads <= 4096, "threads", c.threads, "0 to 4096");
  check(c.model.max_tokens >= 0, "model.max_tokens", c.model.max_tokens, "0 or more");
  check(c.batch.tokens >= 1, "batch.tokens", c.batch.tokens, "at least 1");
  check(c.batch.sequences >= 0, "batch.sequences", c.batch.sequences, "0 or more");
  check(c.batch.accumulate >= 1, "batch.accumulate", c.batch.accumulate, "at least 1");
  check(c.optimizer.learning_rate >= 0, "optimizer.learning_rate", c.optimizer.learning_rate, "0 or more");
  check(c.optimizer.layer_decay > 0 && c.optimizer.layer_decay <= 1, "optimizer.layer_decay", c.optimizer.layer_decay,
        "above 0, at most 1");
  check(c.optimizer.clip >= 0, "optimizer.clip", c.optimizer.clip, "0 or more");
  check(c.schedule.warmup >= 0, "schedule.warmup", c.schedule.warmup, "0 or more");
  check(c.ema >= 0 && c.ema < 1, "ema", c.ema, "0 to below 1");
  check(c.lora.rank >= 0, "lora.rank", c.lora.rank, "0 or more");
  check(c.mlm.probability > 0 && c.mlm.probability < 1, "mlm.probability", c.mlm.probability, "between 0 and 1");
  check(c.classify.label_smoothing >= 0 && c.classify.label_smoothing < 1, "classify.label_smoothing",
        c.classify.label_smoothing, "0 to below 1");
  check(c.save.keep >= 1, "save.keep", c.save.keep, "at least 1");
  check(c.evaluate.every >= 0 && c.save.every >= 0, "evaluate.every or save.every", -1, "0 or more");
  check(c.log.every >= 1, "log.every", c.log.every, "at least 1");
  check(c.data.max_bad_rows >= 0, "data.max_bad_rows", c.data.max_bad_rows, "0 or more");
  check(c.data.label_separator.size() <= 1, "data.label_separator", c.data.label_separator, "one character");
  check(c.embed.score_range > 0, "embed.score_range", c.embed.score_range, "above 0");
}

void check_config(const TrainConfig& c, const std::string& where) {
  check_choice(c.task, {"classify", "tag", "mlm", "answer", "embed"}, "task", where);
  check_choice(c.classify.kind, {"one", "several", "number"}, "classify.kind", where);
  check_choice(c.tag.metric, {"", "entity", "accuracy"}, "tag.metric", where);
  check_choice(c.embed.loss, {"contrastive", "cosine"}, "embed.loss", where);
  check_choice(c.embed.pooling, {"mean", "cls", "max"}, "embed.pooling", where);
  check_choice(c.optimizer.name, {"adamw", "adam", "sgd", "adagrad", "rmsprop"}, "optimizer.name", where);
  check_choice(c.schedule.decay, {"linear", "cosine", "constant"}, "schedule.decay", where);
  check_choice(c.tokenizer.train, {"", "wordpiece", "bpe", "unigram", "wordlevel"}, "tokenizer.train", where);
  check_ranges(c, where);
  HEED_CHECK_AS(bad_format, !c.output.empty(), where, ": output is missing: a folder for the model");
  HEED_CHECK_AS(bad_format, !c.data.train.empty(), where, ": data.train is missing: files to learn from");
  HEED_CHECK_AS(bad_format, c.model.from.empty() != c.model.architecture.empty(), where,
                ": give either model.from (a folder) or model.architecture (fields of a config.json)");
  HEED_CHECK_AS(bad_format, !c.model.from.empty() || !c.tokenizer.from.empty() || !c.tokenizer.train.empty(), where,
                ": a model from nothing needs tokenizer.from or tokenizer.train");
}

// The fields that a starter leaves out: those of other tasks.
bool is_for_task(const std::string& name, const std::string& task) {
  const std::string group = name.substr(0, name.find('.'));
  const bool of_a_task = std::ranges::find(kTrainTasks, group) != std::end(kTrainTasks);
  return !of_a_task || group == task;
}

TrainConfig starter_values(const std::string& task) {
  TrainConfig config;
  config.task = task;
  config.output = "runs/" + task;
  config.model.from = "path/to/model";
  const std::map<std::string, std::string> extension = {
      {"classify", ".tsv"}, {"tag", ".conll"}, {"mlm", ".txt"}, {"answer", ".json"}, {"embed", ".csv"}};
  config.data.train = {"train" + extension.at(task)};
  config.data.dev = {"dev" + extension.at(task)};
  return config;
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const auto distance = [&](std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < other.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i] != other[j]);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    return row.back();
  };
  // A name without its group counts as well: learning_rate is optimizer.learning_rate.
  const auto cost = [&](const std::string& each) {
    const std::size_t dot = each.rfind('.');
    const std::size_t whole = distance(each);
    return dot == std::string::npos ? whole : std::min(whole, distance(std::string_view(each).substr(dot + 1)) + 1);
  };
  const auto best = std::ranges::min_element(known, {}, cost);
  return best == known.end() ? "" : *best;
}

TrainConfig parse_train_config(std::string_view text, const std::string& name, std::span<const std::string> overrides) {
  TrainConfig config;
  set_fields(config, parse_json(without_comments(std::string(text)), name), "", name);
  for (const std::string& each : overrides) apply_override(config, each);
  check_config(config, name);
  return config;
}

TrainConfig read_train_config(const std::filesystem::path& file, std::span<const std::string> overrides) {
  constexpr std::size_t kMostBytes = 16'000'000;
  return parse_train_config(read_file(file, kMostBytes), file.string(), overrides);
}

Json to_json(const TrainConfig& config) {
  Json result = Json::object();
  TrainConfig copy = config;
  visit_fields(copy, [&](const std::string& name, const auto& field, const char*) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      result[name] = field;
    } else {
      result[name.substr(0, dot)][name.substr(dot + 1)] = field;
    }
  });
  return result;
}

std::string starter_config(const std::string& task) {
  HEED_CHECK(std::ranges::find(kTrainTasks, task) != std::end(kTrainTasks), "[train] there is no task \"", task,
             "\"; there are classify, tag, mlm, answer and embed");
  TrainConfig config = starter_values(task);
  std::string text = "// heed train THIS_FILE [name=value ...]\n{\n", group;
  bool comma = false;  // whether something stands before in this object
  visit_fields(config, [&](const std::string& name, const auto& field, const char* comment) {
    if (!is_for_task(name, task)) return;
    const std::size_t dot = name.find('.');
    const std::string next_group = dot == std::string::npos ? "" : name.substr(0, dot);
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
    text += indent + "// " + comment + "\n";
    text += indent + "\"" + (dot == std::string::npos ? name : name.substr(dot + 1)) + "\": " + Json(field).dump();
  });
  return text + (group.empty() ? "" : "\n  }") + "\n}\n";
}

}  // namespace heed

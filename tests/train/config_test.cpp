#include "heed/train/config.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/tasks/registry.h"
#include "heed/train/head_plan.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

const std::string kSmall = R"({
  // what to do
  "task": "classify", "output": "out", /* where */
  "model": {"from": "a//b"},
  "data": {"train": "train.tsv"}
})";

TEST(TrainConfig, CommentsListsAndDefaults) {
  const TrainConfig config = parse_train_config(kSmall, "c.json");
  EXPECT_EQ(config.task, "classify");
  EXPECT_EQ(config.model.from, "a//b");  // no comment inside of a string
  EXPECT_EQ(config.data.train, std::vector<std::string>{"train.tsv"});
  EXPECT_EQ(config.epochs, 0);  // chosen by the size of the data
}

TEST(TrainConfig, OverridesAreJsonOrText) {
  const std::vector<std::string> overrides = {"optimizer.learning_rate=3e-4", "output=runs/a=b", "batch.shuffle=false",
                                              "data.dev=[\"x\",\"y\"]"};
  const TrainConfig config = parse_train_config(kSmall, "c.json", overrides);
  EXPECT_EQ(config.optimizer.learning_rate, 3e-4);
  EXPECT_EQ(config.output, "runs/a=b");
  EXPECT_FALSE(config.batch.shuffle);
  EXPECT_EQ(config.data.dev, (std::vector<std::string>{"x", "y"}));
}

TEST(TrainConfig, NothingClearsAList) {
  const std::vector<std::string> overrides = {"data.dev=[\"x\",\"y\"]", "data.dev=", "data.test="};
  const TrainConfig config = parse_train_config(kSmall, "c.json", overrides);
  EXPECT_TRUE(config.data.dev.empty());
  EXPECT_TRUE(config.data.test.empty());
}

TEST(TrainConfig, UnknownNamesAreRefusedWithTheNearest) {
  const std::vector<std::string> wrong = {"optimizer.lerning_rate=1"};
  const std::string message =
      test::error_of(ErrorKind::bad_format, [&] { parse_train_config(kSmall, "c.json", wrong); });
  EXPECT_NE(message.find("optimizer.lerning_rate"), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean optimizer.learning_rate?"), std::string::npos) << message;
  const std::string group =
      test::error_of(ErrorKind::bad_format, [&] { parse_train_config(R"({"tsk": "tag"})", "c.json"); });
  EXPECT_NE(group.find("c.json: there is no field tsk; did you mean task?"), std::string::npos) << group;
  const std::string bare =
      test::error_of(ErrorKind::bad_format, [&] { parse_train_config(R"({"learning_rate": 1})", "c.json"); });
  EXPECT_NE(bare.find("did you mean optimizer.learning_rate?"), std::string::npos) << bare;
}

TEST(TrainConfig, ErrorsNameFieldFoundAndExpected) {
  const auto message = [](const std::string& override) {
    return test::error_of(ErrorKind::bad_format, [&] { parse_train_config(kSmall, "c.json", std::vector{override}); });
  };
  EXPECT_NE(message("epochs=-1").find("epochs is -1, expected 0 or more"), std::string::npos);
  EXPECT_NE(message("evaluate.patience=-2").find("evaluate.patience is -2, expected -1 or more"), std::string::npos);
  EXPECT_TRUE(message("epochs=many").ends_with("epochs is a string, expected an integer")) << message("epochs=many");
  EXPECT_NE(message("task=clasify").find("expected classify, tag, mlm, answer, embed"), std::string::npos);
  const std::string form = test::error_of(
      ErrorKind::invalid_argument, [] { parse_train_config(kSmall, "c.json", std::vector<std::string>{"epochs"}); });
  EXPECT_NE(form.find("name=value"), std::string::npos) << form;
  EXPECT_NE(message("model.from=").find("model.architecture"), std::string::npos);
  // Before anything is read or trained, the tokenizer too.
  const auto scratch = [](const std::string& architecture) {
    const std::vector<std::string> overrides = {"model.from=", "tokenizer.train=wordpiece",
                                                "model.architecture=" + architecture};
    return test::error_of(ErrorKind::bad_format, [&] { parse_train_config(kSmall, "c.json", overrides); });
  };
  EXPECT_NE(scratch(R"({"hidden_size": 16})").find("c.json: model.architecture: model_type is missing"),
            std::string::npos);
  EXPECT_NE(scratch(R"({"model_type": "brt"})").find("model_type is \"brt\", expected one of"), std::string::npos);
}

TEST(TrainConfig, ColumnsMayBeNumbersAndTextsMayBeDigits) {
  const std::vector<std::string> overrides = {"data.text=0", "data.label=2", "output=2026", "data.separator=;"};
  const TrainConfig config = parse_train_config(kSmall, "c.json", overrides);
  EXPECT_EQ(config.data.columns.text, "0");
  EXPECT_EQ(config.data.columns.label, "2");
  EXPECT_EQ(config.output, "2026");
  EXPECT_EQ(config.data.separator, ";");
  Json file = parse_json(
      R"({"task": "tag", "output": "o", "model": {"from": "m"}, "data": {"train": "t", "words": 1}})", "c.json");
  EXPECT_EQ(parse_train_config(file.dump(), "c.json").data.columns.words, "1");
  file["data"]["words"] = -1;
  test::error_of(ErrorKind::bad_format, [&] { parse_train_config(file.dump(), "c.json"); });
}

// All that a row can hold has a column, in the config, in a further head and in what is read.
TEST(TrainConfig, EveryColumnReachesTheReader) {
  for (const Column& column : kColumns) {
    const std::string name(column.name);
    const std::vector<std::string> overrides = {"data." + name + "=mine"};
    const TrainConfig config = parse_train_config(kSmall, "c.json", overrides);
    TrainConfig with_head = config;
    with_head.heads.push_back(Json::object({{"name", "second"}, {"task", "tag"}, {name, "theirs"}}));
    const auto plans = head_plans(with_head);
    ASSERT_EQ(plans.size(), 2u);
    const auto sources = data_sources(with_head, plans, {"train.jsonl"});
    EXPECT_EQ(sources[0][0].columns.*column.place, "mine") << name;
    EXPECT_EQ(sources[0][1].columns.*column.place, "theirs") << name;
    EXPECT_EQ(config_of_head(with_head, plans[1]).data.columns.*column.place, "theirs") << name;
  }
}

// As much of JSON Schema as ours needs: why the value does not fit, "" if it does.
std::string misfit(const Json& schema, const Json& value, const std::string& where) {
  if (schema.contains("anyOf")) {
    for (const Json& each : schema["anyOf"]) {
      if (misfit(each, value, where).empty()) return "";
    }
    return where + " fits nothing of anyOf";
  }
  if (schema.contains("type")) {
    const auto is = [&](const Json& type) {
      return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
             (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
             (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
             (type == "integer" && value.is_number_integer());
    };
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    if (std::ranges::none_of(types, is)) return where + " is no " + types.dump();
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    return where + " is not in enum";
  }
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name.get<std::string>())) return where + " lacks " + name.get<std::string>();
  }
  const Json fields = value.is_object() ? value : Json::object();
  for (const auto& [name, part] : fields.items()) {
    const bool known = schema.contains("properties") && schema["properties"].contains(name);
    if (!known && schema.value("additionalProperties", true)) continue;
    if (!known) return where + "." + name + " is not known";
    const std::string fault = misfit(schema["properties"][name], part, where + "." + name);
    if (!fault.empty()) return fault;
  }
  for (const Json& item : value.is_array() && schema.contains("items") ? value : Json::array()) {
    const std::string fault = misfit(schema["items"], item, where + "[]");
    if (!fault.empty()) return fault;
  }
  return "";
}

TEST(TrainConfig, TheSchemaFitsExamplesStartersAndWrittenConfigs) {
  const Json schema = train_config_schema();
  const auto fault = [&](const std::string& text) {
    return misfit(schema, Json::parse(text, nullptr, true, /*ignore_comments=*/true), "config");
  };
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::tests_folder() / ".." / "examples" / "train")) {
    if (entry.path().extension() != ".json") continue;
    EXPECT_EQ(fault(read_file(entry.path(), 1 << 20)), "") << entry.path();
    ++examples;
  }
  EXPECT_GE(examples, 8u);
  for (const Task* task : tasks()) {
    if (!task->trains()) continue;
    EXPECT_EQ(fault(starter_config(task->name)), "") << task->name;
  }
  EXPECT_EQ(fault(to_json(parse_train_config(kSmall, "c.json")).dump()), "");
  EXPECT_EQ(fault(R"({"task": "tag", "data": {"text": 0}, "tag": {"class_weights": {"O": 0.5}}})"), "");
  EXPECT_EQ(fault(R"({"task": "tag", "epochs": 1.5})"), "config.epochs is no [\"integer\"]");
  EXPECT_EQ(fault(R"({"task": "tag", "optimizer": {"lr": 1}})"), "config.optimizer.lr is not known");
  EXPECT_EQ(fault(R"({"task": "chat"})"), "config.task is not in enum");
  EXPECT_EQ(fault(R"({"schedule": {"decay": "steep"}, "task": "tag"})"), "config.schedule.decay is not in enum");
  EXPECT_EQ(fault(R"({"epochs": 1})"), "config lacks task");
}

TEST(TrainConfig, AnUnclosedCommentIsAnError) {
  for (const char* text : {"{ /* ", "{ /*", "/", "{\"a\": \"/*", ""}) {
    EXPECT_THROW(parse_train_config(text, "c.json"), Error) << text;
  }
}

TEST(TrainConfig, WrittenConfigsReadBack) {
  TrainConfig config = parse_train_config(kSmall, "c.json", std::vector<std::string>{"optimizer.learning_rate=0.1"});
  const Json json = to_json(config);
  EXPECT_EQ(to_json(parse_train_config(json.dump(), "again.json")), json);
}

TEST(TrainConfig, StartersAreConfigs) {
  for (const Task* task : tasks()) {
    if (!task->trains()) continue;
    const std::string text = starter_config(task->name);
    const TrainConfig config = parse_train_config(text, "starter.json");
    EXPECT_EQ(config.task, task->name);
    // The other tasks' fields are left out, this one's are there.
    for (const Task* other : tasks()) {
      const bool there = text.find("\"" + other->name + "\": {") != std::string::npos;
      EXPECT_EQ(there, other == task) << task->name << " " << other->name;
    }
  }
  EXPECT_THROW(starter_config("similarity"), Error);  // it only predicts
  EXPECT_THROW(starter_config("no such task"), Error);
}

}  // namespace
}  // namespace heed

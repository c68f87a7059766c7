#include "heed/train/config.h"

#include <gtest/gtest.h>

#include "heed/tasks/task.h"
#include "support/error_of.h"

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
  EXPECT_EQ(config.epochs, 3);
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
  EXPECT_NE(message("epochs=0").find("epochs is 0, expected at least 1"), std::string::npos);
  EXPECT_NE(message("epochs=many").find("epochs is a string, expected an integer"), std::string::npos);
  EXPECT_NE(message("task=clasify").find("expected classify, tag, mlm, answer, embed"), std::string::npos);
  const std::string form = test::error_of(
      ErrorKind::invalid_argument, [] { parse_train_config(kSmall, "c.json", std::vector<std::string>{"epochs"}); });
  EXPECT_NE(form.find("name=value"), std::string::npos) << form;
  EXPECT_NE(message("model.from=").find("model.architecture"), std::string::npos);
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

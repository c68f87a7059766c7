// A run that is stopped and resumed leaves what an undisturbed one leaves, byte for byte: language models of texts and
// of conversations, translations, and low-rank additions that are kept apart. Classifiers are in trainer_test.cpp,
// models with a memory in tests/tasks/generate_test.cpp.
#include <gtest/gtest.h>

#include <map>

#include "heed/base/file.h"
#include "heed/train/trainer.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Stops after this many steps of this process; 0: never.
class StopsAfter : public TrainEvents {
 public:
  explicit StopsAfter(std::int64_t limit) : left_(limit) {}
  void step(const StepReport& report) override {
    steps = report.steps;
    if (--left_ == 0) stop.request_stop();
  }
  StopSource stop;
  std::int64_t steps = 0;  // of the whole run

 private:
  std::int64_t left_;
};

class ResumeTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TrainEnd run(Json config, const std::string& name, StopsAfter& events, RunStart start = RunStart::fresh) const {
    config["output"] = path(name);
    Trainer trainer(parse_train_config(config.dump(), "test.json"), events, start);
    const StopScope scope(events.stop.token());
    return trainer.run();
  }

  // The files of a run by their names; train.json has the folder's own.
  std::map<std::string, std::string> files_of(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(path(name))) {
      const std::string file = entry.path().filename().string();
      if (entry.is_regular_file() && file != "train.json") files[file] = read_file(entry.path(), 1 << 24);
    }
    return files;
  }

  // Stopped after the first step, in the middle and after the last one.
  void expect_same(const Json& config, const std::string& weights) const {
    StopsAfter whole(0);
    EXPECT_EQ(run(config, "whole", whole), TrainEnd::finished);
    const auto expected = files_of("whole");
    ASSERT_TRUE(expected.contains(weights) && expected.contains("log.jsonl") && expected.contains("results.json"));
    ASSERT_GE(whole.steps, 6);
    for (const std::int64_t after : {std::int64_t{1}, whole.steps / 2, whole.steps}) {
      const std::string name = "stopped" + std::to_string(after);
      StopsAfter first(after), rest(0);
      EXPECT_EQ(run(config, name, first), TrainEnd::interrupted);
      EXPECT_FALSE(files_of(name).contains(weights)) << after;
      EXPECT_EQ(run(config, name, rest, RunStart::resume), TrainEnd::finished);
      const auto found = files_of(name);
      ASSERT_EQ(found.size(), expected.size()) << after;
      for (const auto& [file, bytes] : expected) EXPECT_TRUE(found.at(file) == bytes) << file << " after " << after;
    }
  }

  // Of a decoder that draws dropout masks, from nothing.
  Json language_model() const {
    return {{"task", "lm"},
            {"model", {{"architecture", test::small_gpt2(16, 32, 0.1)}}},
            {"tokenizer", {{"train", "character"}}},
            {"batch", {{"tokens", 128}}},
            {"optimizer", {{"learning_rate", 1e-2}}},
            {"evaluate", {{"every", 4}}},
            {"log", {{"every", 1}, {"tensorboard", false}}},
            {"epochs", 2}};
  }

  test::TempFolder folder_;
};

TEST_F(ResumeTest, ALanguageModel) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "the cat sat on the mat, and dog " + std::to_string(i) + " sat by the log.\n";
  folder_.write("train.txt", text);
  Json config = language_model();
  config["data"] = {{"train", path("train.txt")}, {"dev", path("train.txt")}, {"format", "document"}};
  expect_same(config, "model.safetensors");
}

TEST_F(ResumeTest, Translations) {
  std::string rows = "text\ttext_pair\n";
  for (int i = 0; i < 24; ++i) rows += "der hund " + std::to_string(i) + "\tthe dog number " + std::to_string(i) + "\n";
  folder_.write("train.tsv", rows);
  Json config = language_model();
  config["task"] = "translate";
  config["model"]["architecture"] = test::small_marian(16, 48, 0.1);
  config["translate"] = {{"label_smoothing", 0.1}};
  config["data"] = {{"train", path("train.tsv")}, {"dev", path("train.tsv")}};
  expect_same(config, "model.safetensors");
}

TEST_F(ResumeTest, Conversations) {
  std::string rows;
  for (int i = 0; i < 12; ++i) {
    rows += R"({"messages": [{"role": "user", "content": "dog?"}, {"role": "assistant", "content": "woof"},)"
            R"( {"role": "user", "content": "and )" +
            std::to_string(i) + R"(?"}, {"role": "assistant", "content": "wow"}]})" + "\n" +
            R"({"instruction": "cat?", "output": "meow"})" + "\n";
  }
  folder_.write("train.jsonl", rows);
  folder_.write("own.jinja",
                "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}{{ eos_token }}\n{% endfor %}"
                "{% if add_generation_prompt %}a:{% endif %}");
  Json config = language_model();
  config["tokenizer"]["chat_template"] = path("own.jinja");
  config["data"] = {{"train", path("train.jsonl")}, {"dev", path("train.jsonl")}};
  expect_same(config, "model.safetensors");
}

TEST_F(ResumeTest, LowRankAdditionsApart) {
  test::write_random_model(folder_.path() / "model", HeadKind::none, {});
  std::string rows = "text\tlabel\n";
  for (int i = 0; i < 24; ++i) {
    rows += std::string(i % 3 ? "the lazy " : "over the quick ") + (i % 2 ? "fox\tyes\n" : "dog\tno\n");
  }
  folder_.write("train.tsv", rows);
  expect_same({{"task", "classify"},
               {"model", {{"from", path("model")}}},
               {"data", {{"train", path("train.tsv")}, {"dev", path("train.tsv")}}},
               {"lora", {{"rank", 2}, {"merge", false}}},
               {"batch", {{"tokens", 60}}},
               {"optimizer", {{"learning_rate", 1e-2}}},
               {"log", {{"every", 1}, {"tensorboard", false}}},
               {"epochs", 3}},
              "adapter_model.safetensors");
}

// Of a decoder, whose fused product of queries, keys and values gets them; with dropout.
TEST_F(ResumeTest, LowRankAdditionsOfALanguageModelApart) {
  test::write_random_decoder(folder_.path() / "model");
  std::string text;
  for (int i = 0; i < 24; ++i)
    text += "the quick brown fox jumps over the lazy dog " + std::string(1, static_cast<char>('a' + i)) + ".\n";
  folder_.write("train.txt", text);
  Json config = language_model();
  config["model"] = {{"from", path("model")}};
  config.erase("tokenizer");
  config["lora"] = {{"rank", 2}, {"merge", false}};
  config["batch"] = {{"tokens", 64}};
  config["data"] = {{"train", path("train.txt")}, {"dev", path("train.txt")}, {"format", "document"}};
  expect_same(config, "adapter_model.safetensors");
}

}  // namespace
}  // namespace heed

#include "heed/train/tune.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Stops after this many steps of this process, as a signal would.
class Listener : public TrainEvents {
 public:
  explicit Listener(std::int64_t stop_after = 0) : stop_after_(stop_after) {}
  void step(const StepReport&) override {
    if (++steps == stop_after_) stop.request_stop();
  }
  void evaluated(const EvaluationReport& report) override { tests += report.split == "test"; }
  std::int64_t steps = 0, tests = 0;
  StopSource stop;

 private:
  std::int64_t stop_after_;
};

class TuneTest : public testing::Test {
 protected:
  TuneTest() {
    test::write_random_model(folder_.path() / "model", HeadKind::none, {});
    std::string rows = "text\tlabel\n";
    for (int i = 0; i < 40; ++i) {
      rows += std::string(i % 3 ? "the lazy " : "over the quick ") + (i % 2 ? "fox\tyes\n" : "dog\tno\n");
    }
    for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) folder_.write(name, rows);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  TrainConfig config(const std::string& output, const std::vector<std::string>& overrides = {}) const {
    const Json fields = {{"task", "classify"},
                         {"output", path(output)},
                         {"model", {{"from", path("model")}}},
                         {"data", {{"train", path("train.tsv")}, {"dev", path("dev.tsv")}, {"test", path("test.tsv")}}},
                         {"epochs", 2}};
    return parse_train_config(fields.dump(), "test.json", overrides);
  }
  std::string bytes(const std::string& name) const { return read_file(folder_.path() / name, 1 << 26); }

  test::TempFolder folder_;
};

TEST_F(TuneTest, KeepsTheBestOnDevAndTestsItAlone) {
  Listener events;
  const TuneResult result = tune(config("out"), 4, events);
  EXPECT_EQ(result.metric, "accuracy");
  ASSERT_EQ(result.trials.size(), 4u);
  const TuneTrial& first = result.trials[0];
  EXPECT_EQ(first.epochs, 2);
  EXPECT_EQ(result.trials[1].learning_rate, 2 * first.learning_rate);
  EXPECT_EQ(result.trials[2].learning_rate, first.learning_rate / 2);
  EXPECT_EQ(result.trials[3].epochs, 4);
  for (const TuneTrial& trial : result.trials) EXPECT_LE(*trial.score, *result.trials[result.best].score);

  const std::string best = "out/tune/" + std::to_string(result.best + 1);
  EXPECT_EQ(bytes("out/model.safetensors"), bytes(best + "/model.safetensors"));
  EXPECT_EQ(bytes("out/log.jsonl"), bytes(best + "/log.jsonl"));
  EXPECT_EQ(events.tests, 1);
  const Json results = parse_json(bytes("out/results.json"), "results.json");
  EXPECT_TRUE(results.contains("test"));
  EXPECT_EQ(results.at("judged_by").at("best"), *result.trials[result.best].score);
  const TrainConfig kept = read_train_config(path("out/train.json"));
  EXPECT_EQ(kept.output, path("out"));
  EXPECT_EQ(kept.data.test, std::vector<std::string>{path("test.tsv")});
  EXPECT_EQ(kept.optimizer.learning_rate, result.trials[result.best].learning_rate);

  // It is the model that an ordinary run with these settings gives.
  TrainConfig again = kept;
  again.output = path("again");
  TrainEvents silent;
  Trainer(again, silent).run();
  EXPECT_EQ(bytes("again/model.safetensors"), bytes("out/model.safetensors"));
}

TEST_F(TuneTest, StoppedAnywhereItGoesOnAndEndsInTheSameBytes) {
  Listener whole;
  const TuneResult expected = tune(config("whole"), 3, whole);
  Listener first(3);
  const auto tuned = [&](Listener& listener) {
    const StopScope scope(listener.stop.token());
    return tune(config("parts"), 3, listener).end;
  };
  EXPECT_EQ(tuned(first), TrainEnd::interrupted);
  EXPECT_FALSE(fs::exists(path("parts/results.json")));
  Listener second(whole.steps / 2);  // in the second trial
  EXPECT_EQ(tuned(second), TrainEnd::interrupted);
  Listener third;
  const TuneResult result = tune(config("parts"), 3, third);
  // Nothing is done twice.
  EXPECT_EQ(first.steps + second.steps + third.steps, whole.steps);
  EXPECT_EQ(result.best, expected.best);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(result.trials[i].score, expected.trials[i].score);
  EXPECT_EQ(bytes("parts/model.safetensors"), bytes("whole/model.safetensors"));

  // A finished search has nothing left to do; more trials are added to it.
  Listener fourth, fifth;
  EXPECT_EQ(tune(config("parts"), 3, fourth).best, expected.best);
  EXPECT_EQ(fourth.steps, 0);
  EXPECT_EQ(tune(config("parts"), 4, fifth).trials.size(), 4u);
  EXPECT_GT(fifth.steps, 0);
  EXPECT_EQ(fifth.tests, 1);
}

TEST_F(TuneTest, KilledWhileTheBestIsPutInPlaceItDoesThatAgain) {
  Listener whole, rest;
  tune(config("out"), 2, whole);
  const std::string model = bytes("out/model.safetensors");
  for (const char* name : {"results.json", "model.safetensors", "log.jsonl"}) fs::remove(folder_.path() / "out" / name);
  tune(config("out"), 2, rest);
  EXPECT_EQ(rest.steps, 0);
  EXPECT_EQ(bytes("out/model.safetensors"), model);
}

TEST_F(TuneTest, ARateThatIsTooHighIsAFindingAndNotTheEnd) {
  const auto with_rate = [&](const std::string& output, double rate) {
    return config(output, {"optimizer.learning_rate=" + Json(rate).dump(), "optimizer.name=sgd", "optimizer.clip=0",
                           "schedule.warmup=0", "max_steps=3"});
  };
  int runs = 0;
  const auto diverges = [&](double rate) {
    TrainEvents silent;
    try {
      Trainer(with_rate("run" + std::to_string(runs++), rate), silent).run();
      return false;
    } catch (const Error& error) {
      return std::string(error.what()).find("is not finite") != std::string::npos;
    }
  };
  // The first power of two times something that is too much; half of it is not.
  double rate = 1e-3;
  while (rate < 1e36 && !diverges(1000 * rate)) rate *= 1000;
  while (rate < 1e38 && !diverges(2 * rate)) rate *= 2;
  ASSERT_LT(rate, 1e38);
  Listener events;
  const TuneResult result = tune(with_rate("out", rate), 3, events);
  EXPECT_TRUE(result.trials[0].score);
  EXPECT_FALSE(result.trials[1].score);
  EXPECT_TRUE(result.trials[2].score);
  EXPECT_TRUE(fs::exists(path("out/model.safetensors")));
}

TEST_F(TuneTest, ScoresThatAreNotFiniteAreNotTheBest) {
  std::string rows = "text\tscore\n", same = rows;
  for (int i = 0; i < 20; ++i) {
    rows += std::string(i % 2 ? "the fox\t" : "a dog\t") + std::to_string(i % 2) + "\n";
    same += "the fox\t1\n";
  }
  folder_.write("train.tsv", rows);
  folder_.write("dev.tsv", same);
  Listener events;
  const TuneResult result = tune(config("out", {"classify.kind=number", "data.test="}), 2, events);
  EXPECT_EQ(result.best, 0u);
  EXPECT_EQ(result.metric, "spearman");
  for (const TuneTrial& trial : result.trials) EXPECT_FALSE(trial.score);
  EXPECT_EQ(bytes("out/model.safetensors"), bytes("out/tune/1/model.safetensors"));
}

TEST_F(TuneTest, FoldersOfOthersAndConfigsWithoutDevAreRefused) {
  Listener events;
  folder_.write("mine/diary.txt", "mine");
  const auto refused = [&](const TrainConfig& wrong, std::int64_t trials, const std::string& words) {
    const std::string message = test::error_of(ErrorKind::invalid_argument, [&] { tune(wrong, trials, events); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  refused(config("mine"), 2, "is not empty");
  refused(config("out"), 1, "expected 2 to 10");
  refused(config("out"), 11, "expected 2 to 10");
  refused(config("out", {"data.dev=", "data.dev_share=0"}), 2, "data.dev_share above 0");
  refused(config("out", {"data.dev="}), 2, "give data.dev");  // 40 rows: none are held out
  tune(config("used"), 2, events);
  refused(config("used", {"seed=2"}), 2, "another config");
  EXPECT_EQ(tune(config("used", {"threads=1"}), 2, events).trials.size(), 2u);
  EXPECT_EQ(tune(config("used", {"seed=2"}), 2, events, true).trials.size(), 2u);
}

}  // namespace
}  // namespace heed

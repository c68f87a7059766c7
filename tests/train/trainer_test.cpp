// The loop as a whole, on tiny models: what must not change the result does not, and what must does.
#include "heed/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/engine/load.h"
#include "heed/models/load.h"
#include "heed/tasks/classify.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Sentences about animals and places; the label is whether a fox is in them.
std::string animal_rows(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> words = {"the",  "quick", "brown", "fox", "jumps",
                                          "over", "lazy",  "dog",   "in",  "berlin"};
  std::string rows = "text\tlabel\n";
  for (std::size_t row = 0; row < count; ++row) {
    RandomStream draw{seed, row};
    std::string text;
    bool fox = false;
    for (std::uint64_t i = 0, length = 2 + draw.uniform_integer(6); i < length; ++i) {
      const std::string& word = words[draw.uniform_integer(words.size())];
      fox = fox || word == "fox";
      (text += text.empty() ? "" : " ") += word;
    }
    rows += text + "\t" + (fox ? "fox" : "none") + "\n";
  }
  return rows;
}

class Quiet : public TrainEvents {
 public:
  void step(const StepReport& report) override {
    losses.push_back(report.loss);
    operations.push_back(report.operations);
    if (stop_after && static_cast<std::int64_t>(losses.size()) == *stop_after) stop.request_stop();
  }
  void phase(const std::string& what) override {
    if (what == "evaluating on dev") on_dev();
  }
  void evaluated(const EvaluationReport& report) override {
    reports.push_back(report);
    if (report.split == "test") on_test();
  }
  void note(const std::string& what) override { notes.push_back(what); }
  void progress(double) override {
    if (stop_after_progress > 0 && --stop_after_progress == 0) stop.request_stop();
  }
  int stop_after_progress = 0;  // reports of it
  std::vector<double> losses, operations;
  std::vector<std::string> notes;
  std::function<void()> on_test = [] {}, on_dev = [] {};
  std::vector<EvaluationReport> reports;
  std::optional<std::int64_t> stop_after{};  // steps of this process
  StopSource stop;
};

class TrainerTest : public testing::Test {
 protected:
  TrainerTest() {
    test::write_random_model(folder_.path() / "model", HeadKind::none, {});
    folder_.write("train.tsv", animal_rows(60, 1));
    folder_.write("dev.tsv", animal_rows(40, 2));
  }

  TrainConfig config(const std::string& name, std::vector<std::string> overrides = {}) const {
    const std::string text = Json({{"task", "classify"},
                                   {"output", path(name)},
                                   {"model", {{"from", path("model")}}},
                                   {"data", {{"train", path("train.tsv")}, {"dev", path("dev.tsv")}}},
                                   {"batch", {{"tokens", 60}}},
                                   {"optimizer", {{"learning_rate", 3e-3}}},
                                   {"epochs", 2}})
                                 .dump();
    return parse_train_config(text, "test.json", overrides);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string weights_of(const std::string& name) const {
    return read_file(folder_.path() / name / "model.safetensors", 1 << 26);
  }
  fs::path newest_checkpoint_of(const std::string& name) const {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(path(name + "/checkpoints"))) {
      if (entry.path().filename().string().starts_with("step-")) newest = std::max(newest, entry.path());
    }
    return newest;
  }
  TrainEnd run(const TrainConfig& config, Quiet& events, bool resume = false) const {
    Trainer trainer(config, events, resume ? RunStart::resume : RunStart::fresh);
    const StopScope scope(events.stop.token());
    return trainer.run();
  }
  std::string trained(const std::string& name, std::vector<std::string> overrides = {}) const {
    Quiet events;
    EXPECT_NE(run(config(name, std::move(overrides)), events), TrainEnd::interrupted);
    return weights_of(name);
  }

  test::TempFolder folder_;
};

TEST_F(TrainerTest, LearnsAndTheFolderGivesTheSameAnswers) {
  Quiet events;
  EXPECT_EQ(run(config("run", {"epochs=12"}), events), TrainEnd::finished);
  EXPECT_LT(events.losses.back(), 0.5 * events.losses.front());
  const double accuracy = events.reports.back().heads[0].second.metrics.at("accuracy");
  EXPECT_GT(accuracy, 0.9);

  const LoadedModel model = load(path("run"));
  EXPECT_EQ(model.labels(), (std::vector<std::string>{"fox", "none"}));
  const auto answers = classify(model, {"the quick fox jumps", "the lazy dog"});
  EXPECT_EQ(answers[0][0].label, "fox");
  EXPECT_EQ(answers[1][0].label, "none");
}

TEST_F(TrainerTest, ThreadsDoNotChangeAByte) {
  EXPECT_EQ(trained("one", {"threads=1"}), trained("three", {"threads=3"}));
}

TEST_F(TrainerTest, StoppedAnywhereAndResumedEndsInTheSameBytes) {
  const std::vector<std::string> options = {"ema=0.9", "evaluate.every=3", "save.every=4", "batch.accumulate=2"};
  const std::string whole = trained("whole", options);
  for (const std::int64_t after : {1, 3, 4, 6}) {
    const std::string name = "stopped" + std::to_string(after);
    const TrainConfig stopped = config(name, options);
    Quiet first, second;
    first.stop_after = after;
    EXPECT_EQ(run(stopped, first), TrainEnd::interrupted);
    EXPECT_EQ(run(stopped, second, true), TrainEnd::finished);
    EXPECT_EQ(weights_of(name), whole) << "stopped after " << after;
  }
}

TEST_F(TrainerTest, StoppedInsideAnEvaluationItIsMadeUpFor) {
  folder_.write("dev.tsv", animal_rows(2000, 2));  // several batches
  Quiet whole, first, second;
  EXPECT_EQ(run(config("whole"), whole), TrainEnd::finished);
  const TrainConfig stopped = config("stopped");
  Trainer trainer(stopped, first);
  first.stop_after_progress = 2;
  const std::size_t reports = first.reports.size();
  {
    const StopScope scope(first.stop.token());
    EXPECT_EQ(trainer.run(), TrainEnd::interrupted);
  }
  EXPECT_EQ(first.reports.size(), reports);  // the first evaluation did not come to its end
  EXPECT_EQ(run(stopped, second, true), TrainEnd::finished);
  EXPECT_EQ(weights_of("stopped"), weights_of("whole"));
  EXPECT_EQ(second.reports.size(), whole.reports.size());
  EXPECT_EQ(first.losses.size() + second.losses.size(), whole.losses.size());
}

TEST_F(TrainerTest, AnEvaluationThatFailsLosesNoStep) {
  const auto log_of = [&](const std::string& name) { return read_file(path(name + "/log.jsonl"), 1 << 20); };
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"evaluate.patience=1"}, {"save.every=100", "ema=0.9"}}) {
    const std::string name = options[0];
    const std::string whole = trained(name + "whole", options);
    for (const int evaluation : {1, 2}) {
      const std::string output = name + std::to_string(evaluation);
      const TrainConfig failing = config(output, options);
      Quiet first, second;
      first.on_dev = [left = evaluation]() mutable {
        if (--left == 0) fail(ErrorKind::internal, "this data cannot be scored");
      };
      test::error_of(ErrorKind::internal, [&] { run(failing, first); });
      run(failing, second, true);
      EXPECT_EQ(second.losses.size(), static_cast<std::size_t>(2 - evaluation) * first.losses.size()) << output;
      EXPECT_EQ(weights_of(output), whole) << output;
      EXPECT_EQ(log_of(output), log_of(name + "whole")) << output;
    }
  }
}

// Killed after an evaluation and before the next checkpoint, a run evaluates that model again: with the same result.
TEST_F(TrainerTest, AnEvaluationMadeTwiceCountsOnce) {
  const std::vector<std::string> options = {"epochs=6", "evaluate.patience=2", "optimizer.learning_rate=1e-30"};
  const std::string whole = trained("whole", options);
  const TrainConfig killed = config("killed", options);
  Quiet first, second;
  first.on_dev = [left = 2]() mutable {
    if (--left == 0) fail(ErrorKind::internal, "killed");
  };
  test::error_of(ErrorKind::internal, [&] { run(killed, first); });
  fs::remove(newest_checkpoint_of("killed"));
  EXPECT_EQ(run(killed, second, true), TrainEnd::stopped_early);
  EXPECT_EQ(weights_of("killed"), whole);
  EXPECT_EQ(read_file(path("killed/log.jsonl"), 1 << 20), read_file(path("whole/log.jsonl"), 1 << 20));
}

TEST_F(TrainerTest, AMetricThatTheTaskLacksIsFoundBeforeTheFirstStep) {
  Quiet events;
  const std::string message =
      test::error_of(ErrorKind::invalid_argument, [&] { run(config("metric", {"evaluate.metric=acuracy"}), events); });
  EXPECT_NE(message.find("did you mean accuracy?"), std::string::npos) << message;
  EXPECT_TRUE(events.losses.empty());
  EXPECT_EQ(run(config("metric", {"evaluate.metric=matthews"}), events), TrainEnd::finished);
  EXPECT_EQ(run(config("loss", {"evaluate.metric=loss"}), events), TrainEnd::finished);
}

TEST_F(TrainerTest, ChosenSettingsAreSaidSavedAndResumed) {
  const std::vector<std::string> open = {"epochs=0", "batch.tokens=0", "optimizer.learning_rate=0"};
  Quiet whole, first, second;
  run(config("whole", open), whole);
  ASSERT_EQ(whole.notes.size(), 1u);
  EXPECT_TRUE(whole.notes[0].starts_with("chosen for 60 samples of ")) << whole.notes[0];
  EXPECT_NE(whole.notes[0].find("epochs "), std::string::npos) << whole.notes[0];
  const TrainConfig saved = read_train_config(path("whole/train.json"));
  EXPECT_GT(saved.epochs, 2);
  EXPECT_GT(saved.batch.tokens, 0);
  EXPECT_GT(saved.optimizer.learning_rate, 0);
  EXPECT_GT(saved.evaluate.patience, 0);

  first.stop_after = 5;
  EXPECT_EQ(run(config("stopped", open), first), TrainEnd::interrupted);
  TrainConfig resumed = read_train_config(path("stopped/train.json"));
  EXPECT_EQ(resumed.epochs, saved.epochs);
  EXPECT_NE(run(resumed, second, true), TrainEnd::interrupted);
  EXPECT_TRUE(second.notes.empty());
  EXPECT_EQ(weights_of("stopped"), weights_of("whole"));
  // The same settings, given, are the same run.
  EXPECT_EQ(
      trained("given", {"epochs=" + std::to_string(saved.epochs), "batch.tokens=" + std::to_string(saved.batch.tokens),
                        "optimizer.learning_rate=" + Json(saved.optimizer.learning_rate).dump(),
                        "evaluate.patience=" + std::to_string(saved.evaluate.patience)}),
      weights_of("whole"));
}

TEST_F(TrainerTest, WithoutDevThatIsSaidAndThereIsNoPatience) {
  const std::vector<std::string> open = {"data.dev=", "epochs=0", "max_steps=3"};
  Quiet events;
  EXPECT_EQ(run(config("few", open), events), TrainEnd::finished);
  ASSERT_EQ(events.notes.size(), 2u);
  EXPECT_TRUE(events.notes[0].starts_with("no rows are held out for evaluation: the 60 rows of data.train are too few"))
      << events.notes[0];
  EXPECT_TRUE(events.notes[1].starts_with("chosen for 60 samples of ")) << events.notes[1];
  EXPECT_EQ(events.notes[1].find("patience"), std::string::npos) << events.notes[1];
  EXPECT_EQ(read_train_config(path("few/train.json")).evaluate.patience, 0);
  // Who wants none need not be told.
  std::vector<std::string> wanted = open;
  wanted.emplace_back("data.dev_share=0");
  Quiet quiet;
  run(config("wanted", wanted), quiet);
  EXPECT_EQ(quiet.notes.size(), 1u);
}

TEST_F(TrainerTest, AStepOfSeveralBatchesIsThatOfALargeOne) {
  // Dropout draws by place in a batch.
  Json model = parse_json(read_file(path("model/config.json"), 1 << 20), "config.json");
  model["hidden_dropout_prob"] = model["attention_probs_dropout_prob"] = 0;
  folder_.write("model/config.json", model.dump());
  Quiet one, four;
  run(config("large", {"batch.by_length=false", "batch.sequences=16", "batch.tokens=100000", "max_steps=3"}), one);
  run(config("parts", {"batch.by_length=false", "batch.sequences=4", "batch.tokens=100000", "batch.accumulate=4",
                       "max_steps=3"}),
      four);
  ASSERT_EQ(one.losses.size(), four.losses.size());
  for (std::size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(one.losses[i], four.losses[i], 1e-5);
}

TEST_F(TrainerTest, RecomputingChangesNothing) {
  EXPECT_EQ(trained("kept"), trained("recomputed", {"model.recompute=true"}));
}

TEST_F(TrainerTest, SeedAndLearningRateDoChangeTheResult) {
  const std::string usual = trained("usual");
  EXPECT_NE(usual, trained("seed", {"seed=2"}));
  EXPECT_NE(usual, trained("rate", {"optimizer.learning_rate=1e-3"}));
}

TEST_F(TrainerTest, FrozenParametersStay) {
  trained("frozen", {"model.freeze=[\"embeddings\", \"layers\"]"});
  const auto before = load_model(path("model")), after = load_model(path("frozen"));
  const TensorMap old = state(*before->backbone()), now = state(*after->backbone());
  for (const auto& [name, values] : old) EXPECT_TRUE(same_bits(values, now.at(name))) << name;
  Quiet events;
  const std::string message = test::error_of(ErrorKind::invalid_argument,
                                             [&] { run(config("wrong", {"model.freeze=[\"layers.2\"]"}), events); });
  EXPECT_NE(message.find("layers.0 to layers.1"), std::string::npos) << message;
}

TEST_F(TrainerTest, LowRankAdditionsAreMergedAndNothingElseMoves) {
  const std::string whole = trained("lora", {"lora.rank=2", "lora.targets=[\"query_key_value\"]", "epochs=4"});
  const auto before = load_model(path("model")), after = load_model(path("lora"));
  const TensorMap old = state(*before->backbone()), now = state(*after->backbone());
  std::size_t changed = 0;
  for (const auto& [name, values] : old) {
    const bool same = same_bits(values, now.at(name));
    EXPECT_EQ(same, name.find("query_key_value.weight") == std::string::npos) << name;
    changed += !same;
  }
  EXPECT_EQ(changed, 2u);  // layers

  // Resumed, too.
  const TrainConfig stopped = config("lora2", {"lora.rank=2", "lora.targets=[\"query_key_value\"]", "epochs=4"});
  Quiet first, second;
  first.stop_after = 3;
  run(stopped, first);
  run(stopped, second, true);
  EXPECT_EQ(weights_of("lora2"), whole);
}

// Kept apart, they are an adapter of what the run began with: the same model, the head included, to the bit.
TEST_F(TrainerTest, LowRankAdditionsApartAreTheSameModel) {
  const std::vector<std::string> settings = {"lora.rank=2", "lora.targets=[\"query_key_value\"]", "epochs=4"};
  trained("merged", settings);
  std::vector<std::string> apart = settings;
  apart.emplace_back("lora.merge=false");
  Quiet events;
  run(config("apart", apart), events);
  EXPECT_FALSE(fs::exists(path("apart/model.safetensors")));
  const auto merged = load_model(path("merged")), added = load_model(path("apart"));
  EXPECT_EQ(added->architecture(), merged->architecture());
  EXPECT_EQ(added->config().labels, merged->config().labels);
  const TensorMap one = state(*merged), other = state(*added);
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, values] : one) EXPECT_TRUE(same_bits(values, other.at(name))) << name;
  const std::vector<TextInput> texts = {"the quick fox", "in berlin"};
  const auto scores = classify(load(path("merged")), texts), again = classify(load(path("apart")), texts);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(scores[i][0].score, again[i][0].score);
  const Json adapter = parse_json(read_file(path("apart/adapter_config.json"), 1 << 20), "adapter_config.json");
  EXPECT_EQ(adapter["modules_to_save"], (Json{"classifier", "pooler.dense"}));
  EXPECT_EQ(adapter["task_type"], "SEQ_CLS");

  // Resumed, and with averages, to the byte; and the other way round nothing of the adapter is left.
  apart.emplace_back("ema=0.9");
  run(config("averaged", apart), events);
  Quiet first, second;
  first.stop_after = 3;
  const TrainConfig stopped = config("stopped", apart);
  run(stopped, first);
  run(stopped, second, true);
  const auto bytes = [&](const std::string& name) {
    return read_file(path(name) + "/adapter_model.safetensors", 1 << 24);
  };
  EXPECT_EQ(bytes("stopped"), bytes("averaged"));
  EXPECT_NE(bytes("averaged"), bytes("apart"));
  Trainer(config("apart", settings), events, RunStart::overwrite).run();
  EXPECT_FALSE(fs::exists(path("apart/adapter_config.json")));
  EXPECT_EQ(weights_of("apart"), weights_of("merged"));

  const auto refused = [&](std::vector<std::string> overrides) {
    return test::error_of(ErrorKind::bad_format, [&] { static_cast<void>(config("wrong", std::move(overrides))); });
  };
  EXPECT_NE(refused({"lora.merge=false"}).find("lora.rank"), std::string::npos);
  const std::string nested = test::error_of(ErrorKind::invalid_argument, [&] {
    run(config("nested", {"lora.rank=2", "lora.merge=false", "model.from=" + path("averaged")}), events);
  });
  EXPECT_NE(nested.find("is an adapter itself"), std::string::npos) << nested;
}

TEST_F(TrainerTest, ALossThatIsNotFiniteStopsBeforeAnythingIsSaved) {
  Quiet events;
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] {
    run(config("nan", {"optimizer.learning_rate=1e30", "optimizer.clip=0", "schedule.warmup=0", "save.every=1",
                       "evaluate.every=1000"}),
        events);
  });
  EXPECT_NE(message.find("is not finite"), std::string::npos) << message;
  EXPECT_EQ(message.find("-nan"), std::string::npos) << message;
  EXPECT_NE(message.find("step "), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder_.path() / "nan" / "model.safetensors"));
}

TEST_F(TrainerTest, PatienceEndsEarlyAndTheBestIsKept) {
  Quiet events;
  EXPECT_EQ(run(config("early", {"epochs=40", "evaluate.patience=2"}), events), TrainEnd::stopped_early);
  double best = 0;
  for (const EvaluationReport& report : events.reports) {
    best = std::max(best, report.heads[0].second.metrics.at("accuracy"));
  }
  EXPECT_EQ(events.reports.back().heads[0].second.metrics.at("accuracy"), best);
}

TEST_F(TrainerTest, OfEquallyGoodModelsTheLatestIsKept) {
  Quiet events;
  EXPECT_EQ(run(config("tie", {"optimizer.learning_rate=1e-30"}), events), TrainEnd::finished);
  const Json results = parse_json(read_file(folder_.path() / "tie" / "results.json", 1 << 20), "results.json");
  EXPECT_EQ(results.at("best_step"), results.at("steps"));
  // Nothing gets better, so patience ends the run all the same.
  Quiet patient;
  EXPECT_EQ(run(config("patient", {"optimizer.learning_rate=1e-30", "evaluate.patience=1"}), patient),
            TrainEnd::stopped_early);
}

TEST_F(TrainerTest, AScoreThatIsNotFiniteIsNeverTheBest) {
  const auto scores = [](const std::string& second) {
    return "text\tscore\nthe fox\t1\nthe lazy dog\t" + second + "\nin berlin\t" + second + "\n";
  };
  folder_.write("scores.tsv", scores("2"));
  folder_.write("same.tsv", scores("1"));
  const std::vector<std::string> options = {"classify.kind=number", "epochs=6", "data.train=" + path("scores.tsv"),
                                            "data.dev=" + path("same.tsv")};
  Quiet none;
  EXPECT_EQ(run(config("none", options), none), TrainEnd::finished);
  ASSERT_GE(none.notes.size(), 2u);
  EXPECT_NE(none.notes[0].find("all scores of dev are 1.0"), std::string::npos) << none.notes[0];
  EXPECT_NE(none.notes.back().find("the model of step 6, the latest, is kept"), std::string::npos) << none.notes.back();
  for (const EvaluationReport& report : none.reports) EXPECT_FALSE(report.best);
  const auto results_of = [&](const std::string& name) {
    return parse_json(read_file(path(name + "/results.json"), 1 << 20), "results.json");
  };
  EXPECT_EQ(results_of("none").at("best_step"), 6);
  EXPECT_TRUE(results_of("none").at("judged_by").at("best").is_null());
  // Resumed to the same bytes, and with the same patience.
  std::vector<std::string> patient = options;
  patient.emplace_back("evaluate.patience=3");
  Quiet whole, first, second;
  EXPECT_EQ(run(config("whole", patient), whole), TrainEnd::stopped_early);
  first.stop_after = 2;
  const TrainConfig stopped = config("stopped", patient);
  EXPECT_EQ(run(stopped, first), TrainEnd::interrupted);
  EXPECT_EQ(run(stopped, second, true), TrainEnd::stopped_early);
  EXPECT_EQ(weights_of("stopped"), weights_of("whole"));
  EXPECT_EQ(results_of("stopped"), results_of("whole"));
}

TEST_F(TrainerTest, TheModelIsSavedBeforeItIsReportedOn) {
  Quiet events;
  events.on_test = [] { fail(ErrorKind::io, "the screen is full"); };
  test::error_of(ErrorKind::io, [&] { run(config("saved", {"data.test=" + path("dev.tsv")}), events); });
  EXPECT_TRUE(fs::exists(folder_.path() / "saved" / "model.safetensors"));
  EXPECT_EQ(load(path("saved")).labels().size(), 2u);
  EXPECT_FALSE(fs::exists(folder_.path() / "saved" / "results.json"));
}

TEST_F(TrainerTest, OperationsAreThoseThatAreDone) {
  const auto first_of = [&](const std::string& name, std::vector<std::string> overrides) {
    Quiet events;
    overrides.emplace_back("max_steps=1");
    run(config(name, std::move(overrides)), events);
    return events.operations.at(0);
  };
  // The head, a hundredth of the model, always has all three passes.
  const double all = first_of("all", {});
  const double head = (first_of("head", {"model.freeze=[\"embeddings\", \"layers\"]"}) - all / 3) * 3 / 2;
  EXPECT_GT(head, 0);
  EXPECT_LT(head, all * 0.02);
  EXPECT_NEAR(first_of("again", {"model.recompute=true"}), all * 4 / 3 - head / 3, all * 1e-6);
  // The lower of two layers forward only.
  const double upper = first_of("upper", {"model.freeze=[\"embeddings\", \"layers.0\"]"});
  EXPECT_NEAR(upper, all * 2 / 3 + head / 3, all * 1e-6);
}

TEST_F(TrainerTest, HeldOutRowsAreTheSameAfterResuming) {
  folder_.write("train.tsv", animal_rows(200, 1));
  const std::vector<std::string> options = {"data.dev=", "epochs=1", "save.every=2"};
  Quiet whole, first, second;
  run(config("split", options), whole);
  EXPECT_EQ(whole.notes.at(0), "20 of 200 rows of data.train are held out for evaluation (data.dev_share)");
  ASSERT_FALSE(whole.reports.empty());
  const TrainConfig stopped = config("split2", options);
  first.stop_after = 3;
  EXPECT_EQ(run(stopped, first), TrainEnd::interrupted);
  EXPECT_EQ(run(stopped, second, true), TrainEnd::finished);
  EXPECT_EQ(weights_of("split2"), weights_of("split"));
  EXPECT_EQ(second.reports.back().heads[0].second.metrics, whole.reports.back().heads[0].second.metrics);
}

TEST_F(TrainerTest, LabelsThatTrainingLacksCountAsWrong) {
  folder_.write("dev.tsv", "text\tlabel\nthe fox\tfox\nthe cat\tcat\nthe dog\tnone\na fox\tcat\n");
  Quiet events;
  EXPECT_EQ(run(config("cats", {"epochs=12"}), events), TrainEnd::finished);
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_EQ(events.notes[0], "2 rows of dev have a label that training lacks (cat), first at " + path("dev.tsv") +
                                 ":3; they count as wrong");
  const auto& metrics = events.reports.back().heads[0].second.metrics;
  EXPECT_EQ(metrics.at("accuracy"), 0.5);
  EXPECT_TRUE(std::isfinite(metrics.at("loss")));
}

TEST_F(TrainerTest, AFolderWithAnotherRunIsNotOverwritten) {
  trained("used");
  Quiet events;
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] { run(config("used"), events); });
  EXPECT_NE(message.find("--resume"), std::string::npos) << message;
}

TEST_F(TrainerTest, ALabelThatTrainingNeverSawIsNamedWithItsLine) {
  folder_.write("dev.tsv", "text\tlabel\nthe fox\tcat\n");
  Quiet events;
  const std::string message = test::error_of(ErrorKind::bad_format, [&] { run(config("label"), events); });
  EXPECT_NE(message.find("dev.tsv:2"), std::string::npos) << message;
  EXPECT_NE(message.find("\"cat\""), std::string::npos) << message;
}

}  // namespace
}  // namespace heed

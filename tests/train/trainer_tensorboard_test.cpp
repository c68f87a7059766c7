// What a run shows in TensorBoard: everything of log.jsonl, weights, and where the heads look; and that showing it
// changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "heed/tensor/autograd.h"
#include "heed/train/attention_picture.h"
#include "heed/train/trainer.h"
#include "support/event_file.h"
#include "support/random_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLayers = 2, kHeads = 4;  // of write_random_model()

TrainConfig small_config(const test::TempFolder& folder, const std::string& name) {
  if (!fs::exists(folder.path() / "start")) {
    test::write_random_model(folder.path() / "start", HeadKind::none, {"a", "b"});
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += i % 3 ? "no the dog\n" : "yes a quick fox jumps\n";
    folder.write("train.txt", lines);
    folder.write("dev.txt", "no a dog\nyes the fox jumps\n");
  }
  TrainConfig config;
  config.task = "classify";
  config.output = (folder.path() / name).string();
  config.model.from = (folder.path() / "start").string();
  config.data.train = {(folder.path() / "train.txt").string()};
  config.data.dev = {(folder.path() / "dev.txt").string()};
  config.data.format = "lines";
  config.data.label_first = true;
  config.epochs = 2;
  config.batch.tokens = 64;
  config.optimizer.learning_rate = 5e-5;
  config.log.every = 2;
  return config;
}

std::string bytes_of(const fs::path& file) {
  return read_file(file, 1 << 26);
}

class StopsAfterAStep : public TrainEvents {
 public:
  void step(const StepReport&) override { stop.request_stop(); }
  StopSource stop;
};

TrainEnd train(const TrainConfig& config, bool resume = false) {
  TrainEvents silent;
  return Trainer(config, silent, resume ? RunStart::resume : RunStart::fresh).run();
}

TEST(TrainerTensorboard, ChangesNothing) {
  const test::TempFolder folder;
  for (const bool special : {false, true}) {
    TrainConfig with = small_config(folder, special ? "with-special" : "with");
    if (special) with.ema = 0.9, with.lora.rank = 2;
    TrainConfig without = with;
    without.output += "out";
    without.log.tensorboard = false;
    train(with);
    train(without);
    for (const char* name : {"model.safetensors", "log.jsonl", "results.json"}) {
      EXPECT_EQ(bytes_of(fs::path(with.output) / name), bytes_of(fs::path(without.output) / name)) << name;
    }
    EXPECT_TRUE(fs::exists(fs::path(with.output) / "tensorboard"));
    EXPECT_FALSE(fs::exists(fs::path(without.output) / "tensorboard"));
  }
}

TEST(TrainerTensorboard, ShowsLogWeightsAndAttention) {
  if (!test::has_python()) GTEST_SKIP() << test::kNoPython;
  const test::TempFolder folder;
  const TrainConfig config = small_config(folder, "run");
  train(config);
  const auto files = test::event_files(fs::path(config.output) / "tensorboard");
  ASSERT_EQ(files.size(), 1u);
  const Json events = test::read_events(files[0]);

  std::size_t scalars = 0;
  std::ifstream log(fs::path(config.output) / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const Json fields = parse_json(line, "log.jsonl");
    for (const auto& [name, value] : fields.items()) {
      if (name == "step") continue;
      const auto same = [&, &key = name, &wanted = value](const Json& event) {
        return event.value("tag", "") == key && event["step"] == fields["step"] && event.contains("value") &&
               event["value"].get<float>() == wanted.get<float>();
      };
      EXPECT_EQ(std::ranges::count_if(events, same), 1) << name << " of " << line;
      ++scalars;
    }
  }
  EXPECT_GT(scalars, 10u);

  std::set<std::string> weights, heads;
  std::size_t pictures = 0;
  for (const Json& event : events) {
    const std::string tag = event.value("tag", "");
    if (tag.starts_with("weights/")) {
      weights.insert(tag);
      EXPECT_GT(event.at("histogram").at("num").get<double>(), 0) << tag;
    }
    if (tag.ends_with("/entropy")) {
      heads.insert(tag);
      EXPECT_GE(event.at("value").get<double>(), 0) << tag;
      EXPECT_LE(event.at("value").get<double>(), std::log(6.0)) << tag;  // of 6 tokens at most
    }
    pictures += event.contains("image");
  }
  EXPECT_TRUE(weights.contains("weights/encoder.word.weight"));
  EXPECT_TRUE(heads.contains("attention/layer1/head3/entropy"));
  EXPECT_EQ(heads.size(), kLayers * kHeads);
  EXPECT_EQ(pictures, 2u);  // one per evaluation, one evaluation per epoch
}

// Its keys begin with a memory; windows of dev that go on where another ended are shown whole.
TEST(TrainerTensorboard, ShowsTheAttentionOfTransformerXl) {
  if (!test::has_python()) GTEST_SKIP() << test::kNoPython;
  const test::TempFolder folder;
  test::write_random_transfo_xl(folder.path() / "start");
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 3 ? "the quick brown fox " : "a lazy dog jumps ";
  folder.write("text.txt", text);
  TrainConfig config;
  config.task = "lm";
  config.output = (folder.path() / "run").string();
  config.model.from = (folder.path() / "start").string();
  config.model.max_tokens = 12;
  config.data.train = config.data.dev = {(folder.path() / "text.txt").string()};
  config.data.format = "document";
  config.max_steps = config.epochs = 1;
  config.batch.tokens = 64;
  train(config);
  const auto files = test::event_files(fs::path(config.output) / "tensorboard");
  ASSERT_EQ(files.size(), 1u);
  std::size_t entropies = 0, pictures = 0;
  for (const Json& event : test::read_events(files[0])) {
    entropies += event.value("tag", "").ends_with("/entropy");
    pictures += event.contains("image");
  }
  EXPECT_EQ(entropies, 4u);  // 2 layers of 2 heads
  EXPECT_EQ(pictures, 1u);
}

TEST(TrainerTensorboard, AResumedRunMakesLaterEventsVoid) {
  if (!test::has_python()) GTEST_SKIP() << test::kNoPython;
  const test::TempFolder folder;
  const TrainConfig config = small_config(folder, "run");
  StopsAfterAStep events;
  {
    const StopScope scope(events.stop.token());
    EXPECT_EQ(Trainer(config, events).run(), TrainEnd::interrupted);
  }
  EXPECT_EQ(train(config, true), TrainEnd::finished);
  const auto files = test::event_files(fs::path(config.output) / "tensorboard");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(test::read_events(files[0])[1], Json({{"step", 1}, {"session", 1}}));
  EXPECT_EQ(test::read_events(files[1])[1], Json({{"step", 2}, {"session", 1}}));
}

// Queries of zeros look everywhere alike: the entropy of T tokens is log T, and each weight 1 / T.
TEST(AttentionPicture, SumsUpEvenAttention) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {"a", "b"});
  const auto model = load_model(folder.path());
  for (const NamedParameter& each : named_parameters(*model)) {
    if (each.name.find("query") == std::string::npos) continue;
    float* values = each.parameter->mutable_data<float>();
    std::fill(values, values + each.parameter->count(), 0.0F);
  }
  const std::vector<std::int64_t> ids = {2, 5, 6, 7, 3, 2, 9, 3};
  const NoGrad no_grad;
  AttentionRecord record;
  model->encode({.ids = Packed(Tensor::from(ids, {8}), Offsets({5, 3}))}, Context::watched_by(record));
  ASSERT_EQ(record.layers().size(), kLayers);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const auto entropies = mean_entropies(record.layers()[layer]);
    ASSERT_EQ(entropies.size(), kHeads);
    for (const double entropy : entropies) EXPECT_NEAR(entropy, (5 * std::log(5) + 3 * std::log(3)) / 8, 1e-5);
  }
  const GreyImage picture = attention_picture(record.layers(), 5);
  EXPECT_EQ(picture.width, 4 * 6 + 1);
  EXPECT_EQ(picture.height, 2 * 6 + 1);
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const int grey = picture.pixels[static_cast<std::size_t>(y * picture.width + x)];
      EXPECT_EQ(grey, y % 6 == 0 || x % 6 == 0 ? 96 : 51) << x << ", " << y;  // 51 is 255 / 5
    }
  }
}

}  // namespace
}  // namespace heed

// Fine-tuning against PyTorch (fine_tune_torch.py): from the same weights, with the same batches, every step has the
// same loss. Ours is f32, PyTorch's f64.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "heed/base/file.h"
#include "heed/text/load_tokenizer.h"
#include "heed/train/trainer.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/torch.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSequences = 8;  // of a batch
constexpr double kTolerance = 1e-4;
const Json kNoDropout = {{"hidden_dropout_prob", 0.0}, {"attention_probs_dropout_prob", 0.0}};

struct Row {
  std::string text, label;
};

// Batches of rows in the order of the file, as PyTorch gets them.
Json batches_of(const std::vector<Row>& rows, const fs::path& folder, const std::vector<std::string>& labels) {
  text::Tokenizer tokenizer = text::load_tokenizer(folder);
  tokenizer.set_padding(std::nullopt);
  tokenizer.set_truncation(std::nullopt);
  Json batches = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kSequences == 0) batches.push_back(Json::array());
    const auto label = std::ranges::find(labels, rows[i].label) - labels.begin();
    batches.back().push_back({{"ids", tokenizer.encode(rows[i].text).ids}, {"label", label}});
  }
  return batches;
}

// The run's loss at every step.
std::vector<double> losses_of(TrainConfig config) {
  TrainEvents silent;
  Trainer trainer(config, silent);
  EXPECT_EQ(trainer.run(), TrainEnd::finished);
  std::vector<double> losses;
  std::ifstream log(fs::path(config.output) / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    losses.push_back(json_required<double>(parse_json(line, "log.jsonl"), "train/loss", "log.jsonl"));
  }
  return losses;
}

// `model` has a classifier for `labels` already.
test::TorchComparison fine_tune(const std::string& name, const test::TempFolder& folder, const fs::path& model,
                                const std::vector<Row>& rows, const std::vector<std::string>& labels,
                                double learning_rate) {
  std::string lines;
  for (const Row& row : rows) lines += row.label + " " + row.text + "\n";
  TrainConfig config;
  config.task = "classify";
  config.output = (folder.path() / "run").string();
  config.model.from = model.string();
  config.data.train = {folder.write("train.txt", lines).string()};
  config.data.format = "lines";
  config.data.label_first = true;
  config.data.dev_share = 0;
  config.epochs = 1;
  config.batch.shuffle = false;
  config.batch.tokens = 2048;
  config.batch.sequences = static_cast<std::int64_t>(kSequences);
  config.optimizer.learning_rate = learning_rate;
  config.log.every = 1;
  config.threads = 1;

  const std::vector<double> losses = losses_of(config);
  const auto steps = static_cast<std::int64_t>(losses.size());
  EXPECT_EQ(losses.size(), rows.size() / kSequences);
  return {.name = name,
          .tolerance = kTolerance,
          .found = {{"losses", Tensor::from(losses, {steps})}},
          .question = {{"folder", model.string()},
                       {"batches", batches_of(rows, model, labels)},
                       {"learning_rate", learning_rate},
                       {"weight_decay", config.optimizer.weight_decay},
                       {"warmup", std::llround(config.schedule.warmup * static_cast<double>(steps))},
                       {"clip", config.optimizer.clip}}};
}

TEST(FineTuneTorch, FirstHundredLossesOfARandomBert) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const test::TempFolder folder;
  const std::vector<std::string> labels = {"no", "yes"}, words = {"quick", "fox", "dog", "the", "berlin", "over", "in"};
  Json fields = kNoDropout;
  fields.update({{"hidden_size", 64}, {"intermediate_size", 128}, {"initializer_range", 0.05}});
  test::write_random_model(folder.path() / "model", HeadKind::sequence_classification, labels, 3, fields);
  std::vector<Row> rows;
  for (std::uint32_t i = 0, bits = 1; i < 100 * kSequences; ++i) {
    std::string text;
    for (std::uint32_t w = 0; w < 3 + i % 11; ++w) {
      bits = bits * 1664525 + 1013904223;
      text += words[bits / 65536 % words.size()] + " ";
    }
    rows.push_back({text, text.find("fox") < text.find("dog") ? "yes" : "no"});
  }
  const auto comparison = fine_tune("random", folder, folder.path() / "model", rows, labels, 1e-3);
  // It must have learned something for the updates to count.
  const std::vector<double> losses = test::numbers(comparison.found.at("losses"));
  const auto sum = [](auto begin, auto end) { return std::accumulate(begin, end, 0.0); };
  EXPECT_LT(sum(losses.end() - 20, losses.end()), 0.8 * sum(losses.begin(), losses.begin() + 20));
  test::expect_torch_agrees("train/fine_tune_torch.py", {comparison});
}

// SST-2 with a published encoder and a new head. The environment variable HEED_FINE_TUNE_STEPS makes it longer.
TEST(FineTuneTorch, FirstLossesOfMiniLmOnSst2) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const auto minilm = test::shared_data("weights/minilm"), data = test::shared_data("data/sst2/stsa.binary.train");
  if (!fs::exists(minilm) || !fs::exists(data)) GTEST_SKIP() << "needs " << minilm << " and " << data;
  const char* wanted = std::getenv("HEED_FINE_TUNE_STEPS");
  const std::size_t steps = wanted ? std::stoul(wanted) : 10;

  const test::TempFolder folder;
  const fs::path model = folder.path() / "model";
  const std::vector<std::string> labels = {"0", "1"};
  save_model(*load_model(minilm, {.head = HeadKind::sequence_classification, .new_head_seed = 5, .new_labels = labels}),
             model);
  fs::copy(minilm / "tokenizer.json", model / "tokenizer.json");
  Json source = parse_json(read_file(model / "config.json", 1 << 20), "config.json");
  source.update(kNoDropout);
  replace_file(model / "config.json", source.dump(2));

  std::vector<Row> rows;
  std::ifstream file(data);
  for (std::string line; rows.size() < steps * kSequences && std::getline(file, line);) {
    rows.push_back({line.substr(2), line.substr(0, 1)});
  }
  test::expect_torch_agrees("train/fine_tune_torch.py", {fine_tune("minilm", folder, model, rows, labels, 5e-5)});
}

}  // namespace
}  // namespace heed

// Published weights and the numbers that others published for them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "heed/base/file.h"
#include "heed/models/load.h"
#include "heed/ops/reduce.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;
using Rows = std::vector<std::vector<double>>;

// A snapshot of text-embeddings-inference: lists of numbers in YAML, "- - x" begins a row, "  - x" continues it.
Rows read_snapshot(const fs::path& path) {
  std::ifstream file(path);
  Rows rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("- - ")) rows.emplace_back();
    if (line.starts_with("- - ") || line.starts_with("  - ")) rows.back().push_back(std::stod(line.substr(4)));
  }
  return rows;
}

void expect_close(const Tensor& found, const std::string& snapshot) {
  const fs::path path = test::shared_data("suites/tei-snapshots/test_bert__bert_" + snapshot + ".snap");
  const Rows expected = read_snapshot(path);
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), found.size(0)) << path;
  const auto values = found.to_vector<float>();
  const std::size_t width = expected[0].size();
  for (std::size_t row = 0; row < expected.size(); ++row) {
    double dot = 0, ours = 0, theirs = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double a = values[row * width + i], b = expected[row][i];
      dot += a * b, ours += a * a, theirs += b * b;
    }
    EXPECT_GE(dot / std::sqrt(ours * theirs), 0.99999) << snapshot << " " << row;
    EXPECT_NEAR(std::sqrt(ours / theirs), 1, 1e-3) << snapshot << " " << row;
  }
}

Packed packed(const std::vector<Ids>& sequences) {
  Ids all, lengths;
  for (const Ids& ids : sequences) {
    all.insert(all.end(), ids.begin(), ids.end());
    lengths.push_back(static_cast<std::int64_t>(ids.size()));
  }
  return Packed(Tensor::from(all, {static_cast<std::int64_t>(all.size())}), Offsets(lengths));
}

TEST(RealWeights, MiniLmGivesTheVectorsOfTextEmbeddingsInference) {
  const fs::path folder = test::shared_data("weights/minilm");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto model = load_model(folder);
  // "What is Deep Learning?" and "Deep Learning is..." by vocab.txt, lower case.
  const Ids question = {101, 2054, 2003, 2784, 4083, 1029, 102}, start = {101, 2784, 4083, 2003, 1012, 1012, 1012, 102};
  const Packed single = packed({question}), batch = packed({question, start, question});
  const ModelOutput one = model->forward({single}, Context()), three = model->forward({batch}, Context());
  expect_close(one.hidden, "single_raw");
  expect_close(three.hidden, "batch_raw");
  expect_close(pool(Packed(one.hidden, single.offsets), PoolKind::mean), "single");
  expect_close(pool(Packed(three.hidden, batch.offsets), PoolKind::mean), "batch");
  expect_close(first_tokens(one.hidden, single.offsets), "single_pooled");
  expect_close(first_tokens(three.hidden, batch.offsets), "batch_pooled");
  EXPECT_TRUE(same_bits(one.hidden, three.hidden.detached_slice(0, 0, 7).detached_contiguous()));
  EXPECT_TRUE(same_bits(one.hidden, three.hidden.detached_slice(0, 15, 22).detached_contiguous()));
}

TEST(RealWeights, BertTinyToxicityGivesItsLogits) {
  const fs::path folder = test::shared_data("weights/bert-tiny-toxicity");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto model = load_model(folder);
  EXPECT_EQ(model->head(), HeadKind::sequence_classification);
  EXPECT_EQ(model->config().labels, (std::vector<std::string>{"not-toxic", "toxic"}));
  const fs::path expected = folder / "expected.json";
  const Json cases = parse_json(read_file(expected, 1 << 20), expected.string())["cases"];
  std::vector<Ids> texts;
  for (const Json& each : cases) texts.push_back(each["input_ids"].get<Ids>());
  ASSERT_EQ(texts.size(), 4u);
  const Tensor logits = model->forward({packed(texts)}, Context()).logits;
  for (std::int64_t i = 0; i < 4; ++i) {
    // Their logits are those of the weights before they were rounded to F16.
    for (std::int64_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(logits.at({i, j}), cases[static_cast<std::size_t>(i)]["logits"][static_cast<std::size_t>(j)], 5e-3);
    }
  }
}

}  // namespace
}  // namespace heed

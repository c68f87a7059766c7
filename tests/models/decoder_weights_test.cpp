// Published decoders and the numbers that others computed with them: gpt-nano-sort's activations, and scores of
// stories15M, stories260K, minimind2-small and tiny-random-gpt2 by HuggingFace.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/file.h"
#include "heed/io/safetensors.h"
#include "heed/models/load.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "models/decoder_checks.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

class Activations : public Probe {
 public:
  void on_tensor(const Tap& tap, const Tensor& value) override {
    seen[{tap.kind, tap.layer, tap.sequence, tap.head}] = value;
  }
  bool wants(const Tap&) const override { return true; }
  const Tensor& at(Tap::Kind kind, std::int64_t layer, std::int64_t sequence = -1, std::int64_t head = -1) const {
    return seen.at({kind, layer, sequence, head});
  }

  std::map<std::tuple<Tap::Kind, std::int64_t, std::int64_t, std::int64_t>, Tensor> seen;
};

// [B, H, T, D] as [B T, H, D].
Tensor by_token(const Tensor& values) {
  const std::int64_t heads = values.size(1), tokens = values.size(2), width = values.size(3);
  const std::vector<float> all = values.to_vector<float>();
  std::vector<float> result(all.size());
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const std::int64_t d = i % width, t = i / width % tokens, h = i / width / tokens % heads,
                       b = i / width / tokens / heads;
    result[static_cast<std::size_t>(((b * tokens + t) * heads + h) * width + d)] = all[static_cast<std::size_t>(i)];
  }
  return Tensor::from(result, {values.count()});
}

// The author's own, of a batch of 3 x 11; what he calls by no layer is of the first block.
TEST(DecoderWeights, NanoSortGivesTheAuthorsActivations) {
  const fs::path folder = test::shared_data("weights/gpt-nano-sort");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto model = load_model(folder);
  const SafetensorsFile theirs(folder / "activations.safetensors");
  const NoGrad no_grad;
  const Inputs inputs = test::packed(theirs.tensor("idx"));
  Activations ours;
  const ModelOutput out = model->forward(inputs, Context::watched_by(ours), true);
  using Kind = Tap::Kind;
  test::expect_close(ours.at(Kind::embeddings, -1), theirs.tensor("x"), "x");
  test::expect_close(ours.at(Kind::attention_output, 0), theirs.tensor("attnResid"), "attnResid");
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    const std::string name = "block" + std::to_string(layer);
    test::expect_close(ours.at(Kind::hidden, layer), theirs.tensor(name), name);
  }
  test::expect_close(out.hidden, theirs.tensor("ln_f"), "ln_f");
  test::expect_close(out.logits, theirs.tensor("lm_head"), "lm_head");
  const Tensor softmax = theirs.tensor("attSm");
  for (std::int64_t b = 0; b < 3; ++b) {
    for (std::int64_t head = 0; head < 3; ++head) {
      const Tensor expected = softmax.detached_slice(0, b, b + 1).detached_slice(1, head, head + 1);
      test::expect_close(ours.at(Kind::weights, 0, b, head), expected.detached_contiguous(), "attSm");
    }
  }
  // Keys and values are what decoding keeps; queries follow from them and the softmax.
  DecodeState state = model->backbone()->decodes()->start();
  model->backbone()->decodes()->decode(inputs, state, Context());
  test::expect_close(state.caches()[0].keys(), by_token(theirs.tensor("k")), "k");
  test::expect_close(state.caches()[0].values(), by_token(theirs.tensor("v")), "v");
}

Tensor logits_of(const Model& model, const Ids& ids) {
  return model.forward({.ids = Packed(Tensor::from(ids, {std::ssize(ids)}), Offsets({std::ssize(ids)}))}, Context())
      .logits;
}

struct Row {
  explicit Row(const Tensor& logits, std::int64_t row)
      : values(logits.detached_slice(0, row, row + 1).detached_contiguous().to_vector<float>()) {
    double sum = 0;
    for (const float each : values) sum += std::exp(static_cast<double>(each));
    log_sum = std::log(sum);
  }
  void expect_best(const Json& ids, const Json& logits) const {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_NEAR(values.at(ids[i].get<std::size_t>()), logits[i].get<double>(), 2e-4) << ids[i];
    }
    const auto best = std::ranges::max_element(values) - values.begin();
    EXPECT_EQ(best, ids[0].get<std::int64_t>());
  }

  std::vector<float> values;
  double log_sum = 0;
};

class PublishedScores : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const fs::path folder = test::shared_data("weights/" + GetParam());
    if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
    expected_ = parse_json(read_file(folder / "expected.json", 1 << 24), "expected.json");
    model_ = load_model(folder, {.storage = LoadOptions::Storage::as_stored});
  }
  Json expected_;
  std::unique_ptr<Model> model_;
};

// A text, with what is known of every token, or several rows of ids with what is known of their last tokens.
TEST_P(PublishedScores, Forward) {
  const NoGrad no_grad;
  ASSERT_FALSE(expected_["forward"].empty());
  const Json given = expected_["forward"];
  for (const Json& example : given.is_array() ? given : Json::array({given})) {
    if (example.contains("last_top8")) {
      const auto rows = example["input_ids"].get<std::vector<Ids>>();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row last(logits_of(*model_, rows[i]), std::ssize(rows[i]) - 1);
        last.expect_best(example["last_top8"]["ids"][i], example["last_top8"]["logits"][i]);
        EXPECT_NEAR(last.log_sum, example["last_logsumexp"][i].get<double>(), 1e-4);
      }
      continue;
    }
    const auto ids = example["input_ids"].get<Ids>();
    const Tensor logits = logits_of(*model_, ids);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const Row row(logits, static_cast<std::int64_t>(t));
      EXPECT_NEAR(row.log_sum, example["logsumexp"][t].get<double>(), 1e-4) << t;
      if (t + 1 == ids.size()) break;
      const double next = row.values[static_cast<std::size_t>(ids[t + 1])] - row.log_sum;
      EXPECT_NEAR(next, example["token_logprobs"][t].get<double>(), 1e-4) << t;
    }
    const Row last(logits, std::ssize(ids) - 1);
    last.expect_best(example["last_logits_top10"]["ids"], example["last_logits_top10"]["logits"]);
    double sum = 0, squares = 0;
    for (const float each : last.values) sum += each;
    const double mean = sum / static_cast<double>(last.values.size());
    for (const float each : last.values) squares += (each - mean) * (each - mean);
    EXPECT_NEAR(mean, example["last_logits_mean"].get<double>(), 1e-4);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(last.values.size() - 1)),
                example["last_logits_std"].get<double>(), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Decoders, PublishedScores,
                         testing::Values("stories15M", "stories260K", "minimind2-small", "tiny-random-gpt2"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace heed

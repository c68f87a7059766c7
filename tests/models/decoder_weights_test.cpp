// Published decoders and the numbers that others computed with them: gpt-nano-sort's activations, and scores of
// stories15M, stories260K, minimind2-small and tiny-random-gpt2 by HuggingFace.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/file.h"
#include "heed/io/safetensors.h"
#include "heed/models/load.h"
#include "heed/ops/activation.h"
#include "heed/ops/gather.h"
#include "heed/ops/linear.h"
#include "heed/ops/normalize.h"
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
class NanoSort : public testing::Test {
 protected:
  using Kind = Tap::Kind;
  static constexpr std::int64_t kSequences = 3, kTokens = 11, kHeads = 3, kHeadSize = 16;

  void SetUp() override {
    const fs::path folder = test::shared_data("weights/gpt-nano-sort");
    if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
    model_ = load_model(folder);
    theirs_.emplace(folder / "activations.safetensors");
    const Inputs inputs = test::packed(theirs_->tensor("idx"));
    out_ = model_->forward(inputs, Context::watched_by(ours_), true);
    // Keys and values are what decoding keeps.
    state_ = model_->backbone()->decodes()->start();
    model_->backbone()->decodes()->decode(inputs, state_, Context());
  }

  void expect(const Tensor& ours, const std::string& name) const {
    test::expect_close(ours, theirs_->tensor(name), name);
  }
  // The parameter of the backbone whose name ends so.
  Tensor parameter(const std::string& name) const {
    for (const NamedParameter& each : named_parameters(*model_)) {
      if (each.name.ends_with("." + name)) return *each.parameter;
    }
    ADD_FAILURE() << "no " << name;
    return {};
  }
  Tensor norm(const Tensor& x, const std::string& name) const {
    return layer_norm(x, parameter(name + ".weight"), parameter(name + ".bias"), 1e-5);
  }
  Tensor product(const Tensor& x, const std::string& name) const {
    return linear(x, Weight(parameter(name + ".weight")), parameter(name + ".bias"));
  }

  const NoGrad no_grad_;
  std::unique_ptr<Model> model_;
  std::optional<SafetensorsFile> theirs_;
  Activations ours_;
  ModelOutput out_;
  DecodeState state_;
};

TEST_F(NanoSort, WhatAPassShowsIsTheAuthors) {
  expect(ours_.at(Kind::embeddings, -1), "x");
  expect(ours_.at(Kind::attention_output, 0), "attnResid");
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    expect(ours_.at(Kind::hidden, layer), "block" + std::to_string(layer));
  }
  expect(ours_.at(Kind::hidden, 0), "mlpResid");
  expect(out_.hidden, "ln_f");
  expect(out_.logits, "lm_head");
  expect(softmax(out_.logits), "probs");
  const Tensor weights = theirs_->tensor("attSm");
  for (std::int64_t b = 0; b < kSequences; ++b) {
    for (std::int64_t head = 0; head < kHeads; ++head) {
      const Tensor expected = weights.detached_slice(0, b, b + 1).detached_slice(1, head, head + 1);
      test::expect_close(ours_.at(Kind::weights, 0, b, head), expected.detached_contiguous(), "attSm");
    }
  }
  test::expect_close(state_.caches()[0].keys(), by_token(theirs_->tensor("k")), "k");
  test::expect_close(state_.caches()[0].values(), by_token(theirs_->tensor("v")), "v");
}

// What a pass never makes by itself, because it is fused with what follows: by single ops on the model's parameters,
// from what the pass does show.
TEST_F(NanoSort, WhatIsFusedIsTheAuthorsToo) {
  const Tensor words = take_rows(parameter("word.weight"), theirs_->tensor("idx"));
  expect(words, "tok_emb");
  expect(parameter("position.weight"), "pos_emb");

  const Tensor normed = norm(ours_.at(Kind::embeddings, -1), "layer.0.attention_norm");
  expect(normed, "ln1");
  const Tensor projected = product(normed, "layer.0.attention.query_key_value");
  expect(projected, "qkv");
  const Tensor queries = projected.detached_slice(1, 0, kHeads * kHeadSize).detached_contiguous();
  test::expect_close(queries, by_token(theirs_->tensor("q")), "q");

  // Scores before the softmax, of the keys that are seen, and the values by its weights: [token, head, D] end to end.
  const auto q = queries.to_vector<float>(), k = state_.caches()[0].keys().to_vector<float>(),
             v = state_.caches()[0].values().to_vector<float>(), all = theirs_->tensor("att").to_vector<float>();
  std::vector<float> scores, expected_scores, mixed(q.size());
  for (std::int64_t b = 0; b < kSequences; ++b) {
    for (std::int64_t head = 0; head < kHeads; ++head) {
      const auto weights = ours_.at(Kind::weights, 0, b, head).to_vector<float>();
      for (std::int64_t i = 0; i < kTokens; ++i) {
        const auto place = [&](std::int64_t token, std::int64_t d) {
          return static_cast<std::size_t>(((b * kTokens + token) * kHeads + head) * kHeadSize + d);
        };
        for (std::int64_t j = 0; j <= i; ++j) {
          const float weight = weights[static_cast<std::size_t>(i * kTokens + j)];
          float sum = 0;
          for (std::int64_t d = 0; d < kHeadSize; ++d) {
            sum += q[place(i, d)] * k[place(j, d)];
            mixed[place(i, d)] += weight * v[place(j, d)];
          }
          scores.push_back(sum / 4);
          expected_scores.push_back(all[static_cast<std::size_t>(((b * kHeads + head) * kTokens + i) * kTokens + j)]);
        }
      }
    }
  }
  const auto count = std::ssize(scores);
  test::expect_close(Tensor::from(scores, {count}), Tensor::from(expected_scores, {count}), "att");
  const Tensor joined = Tensor::from(mixed, {kSequences * kTokens, kHeads * kHeadSize});
  expect(joined, "y");
  expect(product(joined, "layer.0.attention.output"), "yProj");

  const Tensor second = norm(ours_.at(Kind::attention_output, 0), "layer.0.feed_forward_norm");
  expect(second, "ln2");
  const Tensor inner = product(second, "layer.0.feed_forward.up");
  expect(inner, "fc");
  expect(gelu_tanh(inner), "gelu");
  expect(product(gelu_tanh(inner), "layer.0.feed_forward.down"), "mlp");
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

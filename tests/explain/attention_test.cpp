#include "heed/explain/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heed/base/file.h"
#include "heed/explain/look.h"
#include "heed/explain/page.h"
#include "heed/explain/words.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

constexpr const char* kText = "the quick brown foxgang jumps over the lazy dog in berlin";

// A model with random weights.
class ExplainAttention : public ::testing::Test {
 protected:
  ExplainAttention() { test::write_random_model(folder_.path(), HeadKind::sequence_classification, {"a", "b", "c"}); }

  const test::TempFolder folder_;
};

TEST_F(ExplainAttention, LogitsKeepTheirBits) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, {kText, "the dog"});
  const NoGrad no_grad;
  const Inputs inputs = pack_encodings(std::span(&text.encoding, 1), model.model().info());
  const Tensor plain = model.model().forward(inputs, Context()).logits;
  EXPECT_TRUE(same_bits(attention_of(model, text.encoding).output.logits, plain));
  EXPECT_TRUE(same_bits(attention_of(model, text.encoding, [](const Tap&, const Tensor&) {}).output.logits, plain));
}

// Rows in full against the streaming summaries of the same pass: two ways through the kernel.
TEST_F(ExplainAttention, RowsAgreeWithSummaries) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  std::map<std::pair<std::int64_t, std::int64_t>, Tensor> matrices;
  const TextAttention found = attention_of(model, text.encoding, [&](const Tap& tap, const Tensor& weights) {
    EXPECT_TRUE(matrices.emplace(std::pair(tap.layer, tap.head), weights).second);
  });
  ASSERT_EQ(found.layer_count(), 2);
  ASSERT_EQ(found.heads(), 4);
  ASSERT_EQ(matrices.size(), 8u);
  const auto n = static_cast<std::int64_t>(text.tokens.size());
  for (const auto& [place, weights] : matrices) {
    ASSERT_EQ(weights.shape(), Shape({n, n}));
    const auto layer = static_cast<std::size_t>(place.first);
    double mean = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0, entropy = 0, largest = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double p = weights.at({i, j});
        sum += p, entropy -= p * std::log(p), largest = std::max(largest, p);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
      EXPECT_NEAR(entropy, found.layers[layer].entropy.at({i, place.second}), 1e-4);
      EXPECT_NEAR(largest, found.layers[layer].link_weights.at({i, place.second, 0}), 1e-6);
      const auto key = static_cast<std::int64_t>(found.layers[layer].link_keys.at({i, place.second, 2}));
      EXPECT_NEAR(weights.at({i, key}), found.layers[layer].link_weights.at({i, place.second, 2}), 1e-6);
      mean += entropy / static_cast<double>(n);
    }
    EXPECT_NEAR(found.mean_entropy(place.first, place.second), mean, 1e-4);
  }
}

TEST_F(ExplainAttention, WordsHoldTheirTokens) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, {"The Foxgang, in Berlin", "a dog"});
  std::vector<std::string> words;
  for (const TextWord& word : text.words) words.push_back(word.text);
  EXPECT_EQ(words,
            (std::vector<std::string>{"[CLS]", "The", "Foxgang", ",", "in", "Berlin", "[SEP]", "a", "dog", "[SEP]"}));
  EXPECT_EQ(text.words[2].first, 2u);
  EXPECT_EQ(text.words[2].count, 2u);  // fox ##gang
  EXPECT_TRUE(text.words[0].special);
  const std::vector<double> tokens = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  EXPECT_EQ(sums_of_words(tokens, text.words), (std::vector<double>{1, 2, 12, 16, 32, 64, 128, 256, 512, 1024}));
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { sums_of_words(std::span(tokens).first(4), text.words); }),
            "");
}

// Against the product of whole matrices written out in f64.
TEST_F(ExplainAttention, RolloutIsTheProductOfLayers) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  const std::size_t n = text.tokens.size();
  std::vector<std::vector<double>> layers(2, std::vector<double>(n * n, 0));
  AttentionRollout rollout(static_cast<std::int64_t>(n), 4);
  attention_of(model, text.encoding, [&](const Tap& tap, const Tensor& weights) {
    rollout.add(weights);
    for (std::size_t i = 0; i < n * n; ++i) {
      layers[static_cast<std::size_t>(tap.layer)][i] += static_cast<double>(weights.data<float>()[i]) / 8;
    }
  });
  for (auto& layer : layers) {
    for (std::size_t i = 0; i < n; ++i) layer[i * n + i] += 0.5;
  }
  const std::vector<double> row = rollout.row(3);
  for (std::size_t j = 0; j < n; ++j) {
    double expected = 0;
    for (std::size_t k = 0; k < n; ++k) expected += layers[1][3 * n + k] * layers[0][k * n + j];
    EXPECT_NEAR(row[j], expected, 1e-6);
  }
}

// Against the whole matrices, in which the memory comes first.
TEST(ExplainMemory, IsLeftOut) {
  const test::TempFolder folder;
  test::write_random_transfo_xl(folder.path());
  const LoadedModel model(folder.path(), 512);
  constexpr std::int64_t kMemory = 6;
  const ReadText text = read_text(model, kText);
  const auto n = static_cast<std::int64_t>(text.tokens.size());
  std::map<std::pair<std::int64_t, std::int64_t>, Tensor> all, own;
  AttentionRecord record([&](const Tap& tap, const Tensor& weights) { all[{tap.layer, tap.head}] = weights; });
  const NoGrad no_grad;
  model.model().forward(pack_encodings(std::span(&text.encoding, 1), model.model().info()),
                        Context::watched_by(record));
  const TextAttention found = attention_of(model, text.encoding, [&](const Tap& tap, const Tensor& weights) {
    own[{tap.layer, tap.head}] = weights;
  });
  ASSERT_EQ(found.layer_count(), 2);
  ASSERT_EQ(found.heads(), 2);
  EXPECT_EQ(found.tokens(), n);
  EXPECT_EQ(found.keys(), n + kMemory);
  ASSERT_EQ(own.size(), 4u);
  for (const auto& [place, weights] : own) {
    ASSERT_EQ(weights.shape(), Shape({n, n}));
    ASSERT_EQ(all.at(place).shape(), Shape({n, kMemory + n}));
    EXPECT_TRUE(same_bits(weights, all.at(place).detached_slice(1, kMemory, kMemory + n)));
    const LayerAttention& layer = found.layers[static_cast<std::size_t>(place.first)];
    for (std::int64_t i = 0; i < n; ++i) {
      const auto key = static_cast<std::int64_t>(layer.link_keys.at({i, place.second, 0}));
      const double weight = layer.link_weights.at({i, place.second, 0});
      double largest = 0, before = 0;
      for (std::int64_t j = 0; j < kMemory + n; ++j) largest = std::max(largest, all.at(place).at({i, j}));
      for (std::int64_t j = 0; j < kMemory; ++j) before = std::max(before, all.at(place).at({i, j}));
      EXPECT_NEAR(weight, largest, 1e-6);
      ASSERT_LT(key, n);
      if (key < 0) {
        EXPECT_NEAR(weight, before, 1e-6);
      } else {
        EXPECT_NEAR(weight, weights.at({i, key}), 1e-6);
      }
    }
  }
}

TEST(ExplainMemory, ALookHasPageAndRollout) {
  const test::TempFolder folder;
  test::write_random_transfo_xl(folder.path() / "lm");
  const LoadedModel model(folder.path() / "lm", 512);
  const Look look = look_at(model, kText);
  EXPECT_EQ(look.maps.size(), 4u);
  ASSERT_EQ(look.rollout.size(), look.text.tokens.size());
  double sum = 0;
  for (const double share : look.rollout) {
    EXPECT_GE(share, 0);
    sum += share;
  }
  EXPECT_LT(sum, 1 - 1e-3);  // the rest came out of the memory
  EXPECT_FALSE(look.expected.empty());
  write_page(look, "lm", folder.path() / "page.html");
  EXPECT_NE(read_file(folder.path() / "page.html", 1 << 26).find("\"memory\":6"), std::string::npos);

  test::write_random_transfo_xl(folder.path() / "classifier", HeadKind::sequence_classification, {"a", "b"});
  const Look classified = look_at(LoadedModel(folder.path() / "classifier", 512), kText);
  ASSERT_TRUE(classified.evidence);
  EXPECT_EQ(classified.evidence->labels.size(), 2u);
}

TEST(ExplainMemory, NoAttentionIsRefused) {
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [] { layout_of({}); }).find("no attention"), std::string::npos);
}

TEST(ExplainReal, MiniLmAttends) {
  const auto folder = test::shared_data("weights/minilm");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model(folder, 512);
  const ReadText text = read_text(model, "The cat sat on the mat because it was tired.");
  std::int64_t matrices = 0;
  const TextAttention found = attention_of(model, text.encoding, [&](const Tap&, const Tensor&) { ++matrices; });
  EXPECT_EQ(matrices, 72);
  EXPECT_EQ(found.layer_count(), 6);
  EXPECT_EQ(found.heads(), 12);
  // Some heads look at one token alone, or nearly; none at all alike.
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    for (std::int64_t head = 0; head < 12; ++head) {
      EXPECT_GT(found.mean_entropy(layer, head), 0);
      EXPECT_LT(found.mean_entropy(layer, head), std::log(static_cast<double>(text.tokens.size())));
    }
  }
}

}  // namespace
}  // namespace heed

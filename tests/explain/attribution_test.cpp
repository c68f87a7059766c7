#include "heed/explain/attribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/base/parallel.h"
#include "heed/io/safetensors.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"
#include "support/torch.h"

namespace heed {
namespace {

constexpr const char* kText = "the quick brown foxgang jumps over the lazy dog in berlin";

class ExplainAttribution : public ::testing::Test {
 protected:
  ExplainAttribution() { test::write_random_model(folder_.path(), HeadKind::sequence_classification, {"a", "b", "c"}); }

  const test::TempFolder folder_;
};

TEST_F(ExplainAttribution, WordVectorsOfTheTableGiveTheSameBits) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  const NoGrad no_grad;
  Inputs input = repeated_input(model, text.encoding, 2);
  const Tensor plain = label_score(model, 1)(input);
  input.vectors = model.model().backbone()->words().forward(input.ids.values);
  EXPECT_TRUE(same_bits(label_score(model, 1)(input), plain));
  input.vectors = Tensor::zeros({3, 32});
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { label_score(model, 1)(input); }), "");
}

TEST_F(ExplainAttribution, IsCompleteWithEnoughSteps) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  const Attribution rough = integrated_gradients(model, text.encoding, label_score(model, 2), {.steps = 2});
  const Attribution fine = integrated_gradients(model, text.encoding, label_score(model, 2), {.steps = 256});
  EXPECT_EQ(fine.baseline, "[PAD]");
  EXPECT_GT(std::abs(fine.score - fine.baseline_score), 0.01);
  EXPECT_LT(std::abs(fine.gap()), 1e-3);
  EXPECT_GT(std::abs(rough.gap()), std::abs(fine.gap()));
  EXPECT_EQ(fine.tokens.front(), 0);  // [CLS] and [SEP] stay
  EXPECT_EQ(fine.tokens.back(), 0);
  EXPECT_EQ(test::error_of(ErrorKind::invalid_argument,
                           [&] { integrated_gradients(model, text.encoding, label_score(model, 2), {.steps = 0}); }),
            "[integrated_gradients] steps are 0, expected at least 1");
}

// Law 1: how many points run together, and on how many threads, changes nothing.
TEST_F(ExplainAttribution, SameBitsHoweverPointsAreGrouped) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  const auto tokens = [&](std::size_t budget) {
    return integrated_gradients(model, text.encoding, label_score(model, 0), {.steps = 12, .token_budget = budget})
        .tokens;
  };
  const auto one_by_one = tokens(1);
  EXPECT_EQ(one_by_one, tokens(10'000));
  const ThreadLimit limit(3);
  EXPECT_EQ(one_by_one, tokens(50));
}

TEST_F(ExplainAttribution, OcclusionIsTheScoreWithTheWordMasked) {
  const LoadedModel model(folder_.path(), 512);
  const ReadText text = read_text(model, kText);
  const Occlusion found = occlude(model, text, label_score(model, 1));
  EXPECT_EQ(found.replacement, "[MASK]");
  const auto logit = [&](const std::string& changed) {
    const NoGrad no_grad;
    return label_score(model, 1)(repeated_input(model, read_text(model, changed).encoding, 1)).item();
  };
  const double whole = logit(kText);
  ASSERT_EQ(text.words[4].text, "foxgang");
  EXPECT_NEAR(found.words[4], whole - logit("the quick brown [MASK] [MASK] jumps over the lazy dog in berlin"), 1e-6);
  EXPECT_NEAR(found.words[3], whole - logit("the quick [MASK] foxgang jumps over the lazy dog in berlin"), 1e-6);
  EXPECT_EQ(found.tokens[3], found.words[3]);
  EXPECT_NEAR(found.tokens[5], whole - logit("the quick brown fox [MASK] jumps over the lazy dog in berlin"), 1e-6);
  EXPECT_EQ(found.words.front(), 0);
}

// Independent code: PyTorch in f64 walks the same path (models_torch.py).
TEST(ExplainTorch, IntegratedGradients) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const test::TempFolder folder;
  Json questions = Json::array();
  const std::vector<std::int64_t> ids = {2, 7, 19, 5, 5, 30, 12, 3};  // [CLS] c o a a z h [SEP]
  for (const char* type : {"bert", "electra"}) {
    Json config = {
        {"model_type", type},
        {"architectures",
         {type == std::string("bert") ? "BertForSequenceClassification" : "ElectraForSequenceClassification"}},
        {"vocab_size", 31},
        {"hidden_size", 24},
        {"num_hidden_layers", 3},
        {"num_attention_heads", 4},
        {"intermediate_size", 40},
        {"max_position_embeddings", 20},
        {"hidden_act", "gelu"},
        {"layer_norm_eps", 1e-12},
        {"type_vocab_size", 2},
        {"pad_token_id", 0},
        {"id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}}};
    if (type == std::string("electra")) config["embedding_size"] = 10;
    questions.push_back(
        {{"name", type},
         {"config", config},
         {"architecture", "ForSequenceClassification"},
         {"ids", ids},
         {"lengths", {ids.size()}},
         {"gradients", {{"label", 1}, {"steps", 16}, {"kept", {1, 0, 0, 0, 0, 0, 0, 1}}, {"padding", 0}}}});
  }
  const auto asked = folder.write("questions.json", questions.dump());
  ASSERT_EQ(test::run_python("models/models_torch.py " + asked.string() + " " + folder.path().string()), 0);
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary += std::string(1, letter) + "\n";
  for (const Json& question : questions) {
    const auto name = question.at("name").get<std::string>();
    SCOPED_TRACE(name);
    folder.write(name + "/vocab.txt", vocabulary);
    const LoadedModel model(folder.path() / name, 512);
    const ReadText text = read_text(model, "c o a a z h");
    ASSERT_EQ(std::vector<std::int64_t>(text.encoding.ids.begin(), text.encoding.ids.end()), ids);
    const Attribution found = integrated_gradients(model, text.encoding, label_score(model, 1), {.steps = 16});
    const auto expected = test::numbers(
        SafetensorsFile(folder.path() / name / "expected.safetensors").tensors().at("integrated_gradients"));
    ASSERT_EQ(found.tokens.size(), expected.size());
    double largest = 0;
    for (std::size_t t = 0; t < expected.size(); ++t) {
      EXPECT_NEAR(found.tokens[t], expected[t], 1e-5) << t;
      largest = std::max(largest, std::abs(expected[t]));
    }
    EXPECT_GT(largest, 0.01);
  }
}

TEST(ExplainReal, ToxicityComesFromTheInsult) {
  const auto folder = test::shared_data("weights/bert-tiny-toxicity");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model(folder, 512);
  ASSERT_EQ(model.labels()[1], "toxic");
  const ReadText text = read_text(model, "You are a complete idiot and I hope you know it.");
  const Attribution found = integrated_gradients(model, text.encoding, label_score(model, 1));
  const double change = found.score - found.baseline_score;
  RecordProperty("gap", std::to_string(found.gap()));
  RecordProperty("change", std::to_string(change));
  EXPECT_LT(std::abs(found.gap()), 0.02 * std::abs(change)) << change;
  const auto words = sums_of_words(found.tokens, text.words);
  const auto most = [&](const std::vector<double>& values) {
    return text.words[static_cast<std::size_t>(std::ranges::max_element(values) - values.begin())].text;
  };
  EXPECT_EQ(most(words), "idiot");
  EXPECT_EQ(most(occlude(model, text, label_score(model, 1)).words), "idiot");
}

}  // namespace
}  // namespace heed

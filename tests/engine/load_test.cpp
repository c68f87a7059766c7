#include "heed/engine/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <thread>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/models/load.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/fill_mask.h"
#include "heed/tasks/label_scores.h"
#include "heed/tasks/rerank.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/similarity.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

// Rows of a snapshot of text-embeddings-inference: "- - x" begins one.
std::vector<std::vector<double>> snapshot_rows(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("- - ")) rows.emplace_back();
    if (line.starts_with("- - ") || line.starts_with("  - ")) rows.back().push_back(std::stod(line.substr(4)));
  }
  return rows;
}

double cosine(const Tensor& vectors, std::int64_t row, const std::vector<double>& other) {
  double dot = 0, a = 0, b = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    const double x = vectors.at({row, static_cast<std::int64_t>(i)});
    dot += x * other[i], a += x * x, b += other[i] * other[i];
  }
  return dot / std::sqrt(a * b);
}

TEST(Load, MiniLmEmbedsTheTextsOfTextEmbeddingsInference) {
  const fs::path folder = test::shared_data("weights/minilm"), suite = test::shared_data("suites/tei-snapshots");
  if (!fs::exists(folder) || !fs::exists(suite)) GTEST_SKIP() << folder << " or " << suite << " is not there";
  const LoadedModel model = load(folder);
  const Texts texts = {"What is Deep Learning?", "Deep Learning is...", "What is Deep Learning?"};
  const auto expect_rows = [&](const Tensor& vectors, const std::string& name) {
    const auto rows = snapshot_rows(suite / ("test_bert__bert_" + name + ".snap"));
    ASSERT_EQ(static_cast<std::int64_t>(rows.size()), vectors.size(0));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_GE(cosine(vectors, static_cast<std::int64_t>(i), rows[i]), 0.99999) << name << " " << i;
    }
  };
  expect_rows(embed(model, {texts[0]}), "single");
  expect_rows(embed(model, texts), "batch");
  expect_rows(embed(model, texts, {.pooling = "cls"}), "batch_pooled");
  const Tensor unit = embed(model, texts, {.normalize = true});
  expect_rows(unit, "batch");
  double length = 0;
  for (std::int64_t i = 0; i < unit.size(1); ++i) length += unit.at({1, i}) * unit.at({1, i});
  EXPECT_NEAR(length, 1, 1e-6);
  const auto cosines = similarity(model, texts[0], {texts[1], texts[2]});
  EXPECT_NEAR(cosines[1], 1, 1e-6);
  EXPECT_NEAR(cosines[0],
              cosine(unit, 0,
                     [&] {
                       std::vector<double> row;
                       for (std::int64_t i = 0; i < unit.size(1); ++i) row.push_back(unit.at({1, i}));
                       return row;
                     }()),
              1e-6);
}

TEST(Load, BertTinyToxicityClassifies) {
  const fs::path folder = test::shared_data("weights/bert-tiny-toxicity");
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model = load(folder);
  const Json cases = parse_json(read_file(folder / "expected.json", 1 << 20), "expected.json")["cases"];
  std::vector<TextInput> inputs;
  for (const Json& each : cases) inputs.emplace_back(each["text"].get<std::string>());
  const auto results = classify(model, inputs);
  ASSERT_EQ(results.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(model.tokenizer().encode(inputs[i].text).ids, cases[i]["input_ids"].get<std::vector<std::int32_t>>());
    const double difference = cases[i]["logits"][1].get<double>() - cases[i]["logits"][0].get<double>();
    const double toxic = 1 / (1 + std::exp(-difference));
    ASSERT_EQ(results[i].size(), 2u);
    EXPECT_GE(results[i][0].score, results[i][1].score);
    EXPECT_EQ(results[i][0].label, toxic > 0.5 ? "toxic" : "not-toxic");
    EXPECT_NEAR(results[i][0].score, std::max(toxic, 1 - toxic), 5e-3);
  }
}

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kSentences = 30;  // sanitized kernels are fifty times slower
#else
constexpr std::size_t kSentences = 200;
#endif

// Law 1, from texts to vectors.
TEST(Load, SameTextSameBits) {
  const fs::path folder = test::shared_data("weights/minilm"), data = test::shared_data("data/sst2/stsa.binary.dev");
  if (!fs::exists(folder) || !fs::exists(data)) GTEST_SKIP() << folder << " or " << data << " is not there";
  Texts texts;
  std::ifstream file(data);
  for (std::string line; texts.size() < kSentences && std::getline(file, line);) texts.push_back(line.substr(2));
  ASSERT_EQ(texts.size(), kSentences);
  const Tensor together = embed(load(folder), texts);
  const LoadedModel model = load(folder, /*token_budget=*/300);
  const auto bytes = static_cast<std::size_t>(together.size(1)) * sizeof(float);
  const auto expect_same = [&](const Tensor& vectors, std::size_t row, std::size_t text) {
    const std::int64_t width = together.size(1);
    EXPECT_EQ(std::memcmp(vectors.data<float>() + static_cast<std::int64_t>(row) * width,
                          together.data<float>() + static_cast<std::int64_t>(text) * width, bytes),
              0)
        << text;
  };
  // Shuffled by a step that has no divisor in common with their number.
  Texts shuffled;
  for (std::size_t i = 0; i < texts.size(); ++i) shuffled.push_back(texts[i * 77 % texts.size()]);
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    for (std::size_t i = 0; i < texts.size(); ++i) expect_same(embed(model, {texts[i]}), 0, i);
    const Tensor vectors = embed(model, shuffled);
    for (std::size_t i = 0; i < texts.size(); ++i) expect_same(vectors, i, i * 77 % texts.size());
  }
}

TEST(Load, BatchesKeepTheBudgetAndEverySequence) {
  const std::vector<std::size_t> lengths = {3, 50, 7, 7, 120, 1, 0, 30};
  const auto batches = plan_batches(lengths, 60);
  std::vector<std::size_t> seen;
  for (const auto& batch : batches) {
    std::size_t tokens = 0;
    for (const std::size_t i : batch) tokens += lengths[i];
    EXPECT_TRUE(tokens <= 60 || batch.size() == 1);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::ranges::sort(seen);
  std::vector<std::size_t> all(lengths.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_EQ(seen, all);
  EXPECT_EQ(batches.size(), 3u);
}

TEST(Load, SeveralThreadsMayUseOneModel) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::sequence_classification, {"x", "y", "z"});
  const LoadedModel model = load(folder.path());
  const std::vector<TextInput> inputs = {"the quick brown fox", "dog", {"the dog", "in berlin"}, "jumps over!"};
  std::vector<std::vector<std::vector<LabelScore>>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = classify(model, inputs); });
  }
  for (const auto& result : results) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(to_json(result[i]), to_json(classify(model, {inputs[i]})[0])) << i;
    }
  }
}

void change_config(const fs::path& folder, const Json& change) {
  Json config = parse_json(read_file(folder / "config.json", 1 << 20), "config.json");
  config.update(change);
  replace_file(folder / "config.json", config.dump());
}

TEST(Load, ScoresFollowTheProblemType) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::sequence_classification, {"x", "y", "z"});
  const auto scores = [&](const std::string& type) {
    change_config(folder.path(), {{"problem_type", type}});
    std::map<std::string, double> found;
    const auto results = classify(load(folder.path()), {"the quick fox"});
    for (const auto& [label, score] : results[0]) found[label] = score;
    return found;
  };
  auto raw = scores("regression"), many = scores("multi_label_classification"),
       one = scores("single_label_classification");
  double sum = 0;
  for (const auto& [label, value] : raw) sum += std::exp(value);
  for (const auto& [label, value] : raw) {
    EXPECT_NEAR(many[label], 1 / (1 + std::exp(-value)), 1e-6);
    EXPECT_NEAR(one[label], std::exp(value) / sum, 1e-6);
  }
  test::error_of(ErrorKind::bad_format, [&] { scores("ranking"); });
}

TEST(Load, ScoresOfCrossEncodersFollowSentenceTransformers) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::sequence_classification, {"relevance"});
  const auto score = [&](const Json& change) {
    change_config(folder.path(), change);
    const LoadedModel model = load(folder.path());
    const float found = classify(model, {TextInput("fox?", "the dog")})[0][0].score;
    EXPECT_EQ(rerank(model, "fox?", {"the dog"})[0].score, found);
    return found;
  };
  const std::string field = "sbert_ce_default_activation_function", module = "torch.nn.modules.";
  const float plain = score({{"problem_type", nullptr}}), raw = score({{field, module + "linear.Identity"}});
  EXPECT_NEAR(plain, 1 / (1 + std::exp(-raw)), 1e-6);
  EXPECT_EQ(score({{field, module + "activation.Sigmoid"}}), plain);
  EXPECT_EQ(score({{"sentence_transformers", {{"activation_fn", module + "linear.Identity"}}}}), raw);
}

TEST(Load, RerankSortsByTheOnlyLabel) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::sequence_classification, {"relevance"});
  const LoadedModel model = load(folder.path());
  const Texts texts = {"the dog", "a fox", "berlin", "over"};
  const auto ranked = rerank(model, "fox?", texts);
  ASSERT_EQ(ranked.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ranked[i].score, classify(model, {TextInput("fox?", texts[ranked[i].index])})[0][0].score);
    if (i > 0) {
      EXPECT_GE(ranked[i - 1].score, ranked[i].score);
    }
  }
}

TEST(Load, FillMaskGivesTheLikeliestTokens) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::masked_lm, {"a", "b"});
  const LoadedModel model = load(folder.path());
  const auto results = fill_mask(model, {"the [MASK] dog.", "[MASK] fox [MASK]", "the dog [MASK]"}, 3);
  ASSERT_EQ(results[0].masks.size(), 1u);
  ASSERT_EQ(results[1].masks.size(), 2u);
  const std::vector<Json> requests = {{{"text", "the [MASK] dog."}}, {{"text", "[MASK] fox [MASK]"}}};
  const auto answers = run_task(model, "fill-mask", requests);
  EXPECT_TRUE(answers[0][0].is_object());
  EXPECT_TRUE(answers[1][0].is_array());

  const auto plain = load_model(folder.path());
  const auto ids = model.tokenizer().encode("the [MASK] dog.").ids;
  const auto n = static_cast<std::int64_t>(ids.size());
  const Tensor logits = plain->forward({Packed(Tensor::from(ids, {n}), Offsets({n}))}, Context()).logits;
  std::int32_t best = 0;
  double sum = 0;
  for (std::int64_t v = 0; v < logits.size(1); ++v) {
    if (logits.at({2, v}) > logits.at({2, best})) best = static_cast<std::int32_t>(v);
    sum += std::exp(logits.at({2, v}));
  }
  EXPECT_EQ(results[0].masks[0][0].token, best);
  EXPECT_NEAR(results[0].masks[0][0].score, std::exp(logits.at({2, best})) / sum, 1e-6);
  EXPECT_NE(results[1].masks[0][0].sequence.find("[MASK]"), std::string::npos);  // the other one
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] { fill_mask(model, {"no mask"}); });
  EXPECT_NE(message.find("has no [MASK]"), std::string::npos) << message;
}

TEST(Load, FoldersOfSentenceTransformersSayHowToEmbed) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {"a", "b"});
  const LoadedModel bare = load(folder.path());
  folder.write("modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
    {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true})");
  folder.write("sentence_bert_config.json", R"({"max_seq_length": 5})");
  folder.write("config_sentence_transformers.json", R"({"prompts": {"query": "the dog "}})");
  const LoadedModel model = load(folder.path());
  const EmbedOptions same{.pooling = "max", .normalize = true};
  EXPECT_TRUE(same_bits(embed(model, {"quick fox"}), embed(bare, {"quick fox"}, same)));
  EXPECT_FALSE(same_bits(embed(model, {"quick fox"}), embed(bare, {"quick fox"})));
  EXPECT_TRUE(
      same_bits(embed(model, {"in", "fox"}, {.prompt = "query"}), embed(bare, {"the dog in", "the dog fox"}, same)));
  // Three tokens beside [CLS] and [SEP].
  EXPECT_TRUE(same_bits(embed(model, {"the quick brown fox jumps"}), embed(model, {"the quick brown"})));
  const std::string message =
      test::error_of(ErrorKind::invalid_argument, [&] { embed(model, {"fox"}, {.prompt = "passage"}); });
  EXPECT_NE(message.find("query"), std::string::npos) << message;
}

// include_prompt false: mean and max are over the tokens after [CLS] and the prompt.
TEST(Load, PromptsMayBeLeftOutOfPooling) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {"a", "b"});
  folder.write("modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true, "include_prompt": false})");
  folder.write("config_sentence_transformers.json", R"({"prompts": {"query": "the dog "}})");
  const LoadedModel model = load(folder.path());
  const auto hidden = [&](const std::string& text) {
    const auto ids = model.tokenizer().encode(text).ids;
    const auto n = static_cast<std::int64_t>(ids.size());
    return model.model().encode({Packed(Tensor::from(ids, {n}), Offsets({n}))}, Context());
  };
  // [CLS] the dog | quick fox [SEP]
  const Tensor states = hidden("the dog quick fox");
  ASSERT_EQ(states.size(0), 6);
  const Tensor mean = embed(model, {"in berlin", "quick fox"}, {.prompt = "query"});
  const Tensor max = embed(model, {"quick fox"}, {.pooling = "max", .prompt = "query"});
  const Tensor cls = embed(model, {"quick fox"}, {.pooling = "cls", .prompt = "query"});
  for (std::int64_t c = 0; c < states.size(1); ++c) {
    EXPECT_NEAR(mean.at({1, c}), (states.at({3, c}) + states.at({4, c}) + states.at({5, c})) / 3, 1e-6);
    EXPECT_EQ(max.at({0, c}), std::max({states.at({3, c}), states.at({4, c}), states.at({5, c})}));
    EXPECT_EQ(cls.at({0, c}), states.at({0, c}));
  }
  EXPECT_TRUE(
      same_bits(embed(model, {"quick fox"}, {.prompt = "query"}), mean.detached_slice(0, 1, 2).detached_contiguous()));
  // Without a prompt all tokens count.
  const Tensor plain = embed(model, {"fox"}), all = hidden("fox");
  EXPECT_NEAR(plain.at({0, 0}), (all.at({0, 0}) + all.at({1, 0}) + all.at({2, 0})) / 3, 1e-6);
}

}  // namespace
}  // namespace heed

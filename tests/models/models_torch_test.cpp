// Every architecture against PyTorch code written for this test (models_torch.py): it makes HuggingFace folders with
// random weights and says what should come out; we load, compute, compare, save, and find the same folder again.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/io/model_folder.h"
#include "heed/models/load.h"
#include "heed/ops/loss.h"
#include "support/temp_folder.h"
#include "support/torch.h"

namespace heed {
namespace {

using Lengths = std::vector<std::int64_t>;

// 1e-5 is the bar; hidden states are of size 1.
constexpr double kTolerance = 1e-5;

Json small_config(const std::string& model_type) {
  Json config = {{"model_type", model_type},      {"vocab_size", 31},         {"hidden_size", 24},
                 {"num_hidden_layers", 3},        {"num_attention_heads", 4}, {"intermediate_size", 40},
                 {"max_position_embeddings", 20}, {"hidden_act", "gelu"},     {"layer_norm_eps", 1e-12},
                 {"type_vocab_size", 2},          {"pad_token_id", 0}};
  if (model_type == "roberta" || model_type == "xlm-roberta") config["pad_token_id"] = 1;
  if (model_type == "electra") config["embedding_size"] = 10;
  if (model_type == "albert") {
    config.update(
        {{"embedding_size", 10}, {"num_hidden_groups", 1}, {"inner_group_num", 1}, {"hidden_act", "gelu_new"}});
  }
  if (model_type == "mpnet") {
    config.erase("type_vocab_size");
    config.update({{"pad_token_id", 1}, {"relative_attention_num_buckets", 32}, {"max_position_embeddings", 200}});
  }
  if (model_type == "distilbert") {
    config = {{"model_type", model_type},
              {"vocab_size", 31},
              {"dim", 24},
              {"n_layers", 3},
              {"n_heads", 4},
              {"hidden_dim", 40},
              {"activation", "gelu"},
              {"pad_token_id", 0},
              {"max_position_embeddings", 20}};
  }
  return config;
}

const std::map<std::string, std::string> kClasses = {
    {"bert", "Bert"},     {"roberta", "Roberta"}, {"xlm-roberta", "XLMRoberta"}, {"electra", "Electra"},
    {"albert", "Albert"}, {"mpnet", "MPNet"},     {"distilbert", "DistilBert"}};

class Questions {
 public:
  // `more` are further fields of the config.
  void add(const std::string& model_type, const std::string& architecture, const std::string& name = "",
           const Json& more = Json::object(), const Json& options = Json::object()) {
    Json config = small_config(model_type);
    config.update(more);
    config["architectures"] = {kClasses.at(model_type) + architecture};
    Lengths lengths = model_type == "mpnet" ? Lengths{150, 1, 6} : Lengths{7, 1, 12, 4}, ids, types;
    std::int64_t tokens = 0;
    for (std::int64_t length : lengths) tokens += length;
    // Here and there RoBERTa's padding id, 1, which its positions pass over.
    for (std::int64_t i = 0; i < tokens; ++i) {
      ids.push_back(i % 9 == 4 ? 1 : (i * i + 5 * i + 2) % 31);
      types.push_back(i % 3 == 0);
    }
    Json question = {{"name", model_type + architecture + name},
                     {"config", config},
                     {"architecture", architecture},
                     {"lengths", lengths},
                     {"ids", ids}};
    if (config.contains("type_vocab_size")) question["types"] = types;
    question.update(options);
    list_.push_back(question);
  }
  void ask(const test::TempFolder& folder) const {
    const auto asked = folder.write("questions.json", list_.dump());
    ASSERT_EQ(test::run_python("models/models_torch.py " + asked.string() + " " + folder.path().string()), 0);
  }
  const Json& list() const { return list_; }

 private:
  Json list_ = Json::array();
};

Inputs input_of(const Json& question) {
  const auto ids = question.at("ids").get<Lengths>(), lengths = question.at("lengths").get<Lengths>();
  const auto count = static_cast<std::int64_t>(ids.size());
  Inputs input{.ids = Packed(Tensor::from(ids, {count}), Offsets(lengths))};
  if (question.contains("types")) input.type_ids = Tensor::from(question.at("types").get<Lengths>(), {count});
  return input;
}

TensorMap outputs_of(const Model& model, const Json& question) {
  const ModelOutput out = model.forward(input_of(question), Context(), true);
  TensorMap found;
  for (std::size_t i = 0; i < out.states.size(); ++i) found["hidden." + std::to_string(i)] = out.states[i];
  if (out.pooled.defined()) found["pooled"] = out.pooled;
  if (out.logits.defined()) found["logits"] = out.logits;
  if (model.head() == HeadKind::sequence_classification) {
    Lengths labels;
    for (std::int64_t i = 0; i < out.logits.size(0); ++i) labels.push_back(i % out.logits.size(1));
    found["loss"] = cross_entropy(out.logits, Tensor::from(labels, {out.logits.size(0)}));
  }
  EXPECT_TRUE(same_bits(out.states.back(), out.hidden));
  return found;
}

// The largest |found - expected| / max(1, |expected|).
double expect_near(const TensorMap& found, const TensorMap& expected) {
  double largest = 0;
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(found.contains(name)) << name;
    if (!found.contains(name)) continue;
    const auto ours = test::numbers(found.at(name)), theirs = test::numbers(tensor);
    EXPECT_EQ(ours.size(), theirs.size()) << name;
    if (ours.size() != theirs.size()) continue;
    double worst = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double difference = std::abs(ours[i] - theirs[i]) / std::max(1.0, std::abs(theirs[i]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
    EXPECT_LE(worst, kTolerance) << name;
    largest = std::max(largest, worst);
  }
  EXPECT_EQ(found.size(), expected.size());
  return largest;
}

// What save_model writes is the folder it was loaded from: the tensors' names and bits, the config's fields.
void expect_same_folder(Model& model, const std::filesystem::path& original, const std::filesystem::path& saved) {
  save_model(model, saved);
  const TensorMap before = TensorFiles(original).tensors(), after = TensorFiles(saved).tensors();
  for (const auto& [name, tensor] : before) {
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_TRUE(same_bits(after.at(name), tensor.detached_to(DType::f32))) << name;
  }
  EXPECT_EQ(before.size(), after.size());
  Json config = ModelFolder(saved).config();
  config.erase("torch_dtype");
  EXPECT_EQ(config, ModelFolder(original).config());
}

void expect_agreement(const Questions& questions, bool save = true) {
  const test::TempFolder folder;
  ASSERT_NO_FATAL_FAILURE(questions.ask(folder));
  for (const Json& question : questions.list()) {
    const auto name = question.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const auto model = load_model(folder.path() / name);
    const double largest = expect_near(outputs_of(*model, question),
                                       SafetensorsFile(folder.path() / name / "expected.safetensors").tensors());
    ::testing::Test::RecordProperty("largest difference, " + name, std::to_string(largest * 1e6) + "e-6");
    if (save) expect_same_folder(*model, folder.path() / name, folder.path() / name / "saved");
  }
}

TEST(EncodersTorch, Bert) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  Questions questions;
  for (const char* head : {"Model", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM",
                           "ForQuestionAnswering", "ForNextSentencePrediction"}) {
    questions.add("bert", head);
  }
  const Json labels = {{"0", "a"}, {"1", "b"}, {"2", "c"}};
  questions.add("bert", "ForSequenceClassification", "3", {{"id2label", labels}});
  questions.add("bert", "Model", "relative", {{"position_embedding_type", "relative_key"}});
  questions.add("bert", "Model", "relative2", {{"position_embedding_type", "relative_key_query"}});
  questions.add("bert", "ForMaskedLM", "gelu_new", {{"hidden_act", "gelu_new"}, {"layer_norm_eps", 1e-3}});
  questions.add("bert", "Model", "relu", {{"hidden_act", "relu"}, {"type_vocab_size", 3}});
  questions.add("bert", "Model", "silu", {{"hidden_act", "silu"}});
  questions.add("bert", "ForMaskedLM", "untied", {{"tie_word_embeddings", false}});
  expect_agreement(questions);
}

TEST(EncodersTorch, Relatives) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  Questions questions;
  for (const char* model : {"roberta", "xlm-roberta", "electra", "distilbert", "albert", "mpnet"}) {
    for (const char* head :
         {"Model", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM", "ForQuestionAnswering"}) {
      questions.add(model, head);
    }
  }
  questions.add("roberta", "Model", "relative", {{"position_embedding_type", "relative_key_query"}});
  questions.add("electra", "ForPreTraining");
  questions.add("electra", "ForMaskedLM", "wide", {{"embedding_size", 24}, {"hidden_act", "relu"}});
  questions.add("albert", "Model", "groups",
                {{"num_hidden_layers", 5}, {"num_hidden_groups", 2}, {"inner_group_num", 2}});
  questions.add("albert", "ForMaskedLM", "square", {{"embedding_size", 24}});
  questions.add("distilbert", "ForMaskedLM", "relu", {{"activation", "relu"}});
  questions.add("mpnet", "Model", "buckets", {{"relative_attention_num_buckets", 12}});
  expect_agreement(questions);
}

TEST(EncodersTorch, FilesAsTheyComeAlong) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  Questions questions;
  questions.add("bert", "Model", "prefixed", Json::object(), {{"options", {"prefixed"}}});
  questions.add("bert", "ForSequenceClassification", "gamma", Json::object(), {{"options", {"gamma"}}});
  questions.add("bert", "ForMaskedLM", "copies", Json::object(), {{"options", {"copies"}}});
  questions.add("roberta", "ForMaskedLM", "shards", Json::object(), {{"options", {"shards"}}});
  expect_agreement(questions, false);
  Questions halves;
  halves.add("bert", "ForSequenceClassification", "f16", Json::object(), {{"store", "F16"}});
  halves.add("albert", "Model", "bf16", Json::object(), {{"store", "BF16"}});
  expect_agreement(halves);
}

}  // namespace
}  // namespace heed

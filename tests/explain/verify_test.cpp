// verify() against dumps that PyTorch made, as they are and with something changed.
#include "heed/explain/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "heed/ops/shape_ops.h"
#include "support/error_of.h"
#include "support/torch_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

const TextInput kPair("The quick fox jumps.", "in Berlin");

Json bert_config(const std::string& architecture) {
  Json config = test::small_bert_config();
  config.update({{"architectures", {"Bert" + architecture}},
                 {"type_vocab_size", 2},
                 {"hidden_act", "gelu"},
                 {"layer_norm_eps", 1e-12}});
  return config;
}

std::vector<std::string> names_of(const Verification& verification) {
  std::vector<std::string> names;
  for (const TensorCheck& check : verification.checks) names.push_back(check.name);
  return names;
}

class Verify : public ::testing::Test {
 protected:
  // PyTorch makes one folder for all tests; each has a copy.
  static void SetUpTestSuite() {
    if (!test::has_torch()) return;
    original_ = std::make_unique<test::TempFolder>();
    test::make_torch_folder(*original_, bert_config("ForSequenceClassification"), "ForSequenceClassification", kPair);
  }
  static void TearDownTestSuite() { original_.reset(); }
  void SetUp() override {
    if (!original_) GTEST_SKIP() << test::kNoTorch;
    model_ = folder_.path() / "model";
    fs::copy(original_->path() / "model", model_);
    const SafetensorsFile dump(model_ / "dump.safetensors");
    tensors_ = dump.tensors();
    metadata_ = dump.metadata();
  }
  // Of the folder with tensors_ and metadata_ as its dump.
  Verification run(std::optional<double> tolerance = {}) {
    save_safetensors(model_ / "changed.safetensors", tensors_, metadata_);
    return verify(LoadedModel(model_, 4096), SafetensorsFile(model_ / "changed.safetensors"), tolerance);
  }
  std::string first_difference() {
    const Verification verification = run();
    const TensorCheck* first = verification.first_difference();
    return first ? first->name : "none";
  }
  void expect_refused(const std::string& part) {
    const std::string message = test::error_of(ErrorKind::bad_format, [&] { run(); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("changed.safetensors"), std::string::npos) << message;
  }

  static inline std::unique_ptr<test::TempFolder> original_;
  test::TempFolder folder_;
  fs::path model_;
  TensorMap tensors_;
  std::map<std::string, std::string> metadata_;
};

TEST_F(Verify, AllTensorsOfPyTorchAgree) {
  const Verification verification = run();
  EXPECT_EQ(
      names_of(verification),
      (std::vector<std::string>{"input_ids", "token_type_ids", "hidden_states.0", "attentions.0", "hidden_states.1",
                                "attentions.1", "hidden_states.2", "last_hidden_state", "pooler_output", "logits"}));
  EXPECT_EQ(verification.first_difference(), nullptr);
  for (const TensorCheck& check : verification.checks) EXPECT_LE(check.largest, 1e-5) << check.name;
  // Two programs that sum in another order are not equal to the last bit.
  ASSERT_TRUE(run(0).first_difference());
  EXPECT_EQ(run(0).first_difference()->name, "hidden_states.0");
}

TEST_F(Verify, AChangedElementIsFoundAndNamed) {
  Tensor changed = tensors_.at("attentions.1").detached_clone();
  changed.mutable_data<float>()[(2 * changed.size(2) + 3) * changed.size(3) + 1] += 0.01f;
  tensors_["attentions.1"] = changed;
  const Verification verification = run();
  const TensorCheck* first = verification.first_difference();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "attentions.1");
  EXPECT_EQ(first->where, "head 2, token 3 \"fox\", key 1 \"the\"");
  EXPECT_NEAR(first->largest, 0.01, 1e-4);
  EXPECT_EQ(std::ranges::count(verification.checks, false, &TensorCheck::passed), 1);
  EXPECT_EQ(run(0.1).first_difference(), nullptr);
}

TEST_F(Verify, AChangedWeightShowsInTheLayerThatHasIt) {
  TensorMap weights = SafetensorsFile(model_ / "model.safetensors").tensors();
  Tensor changed = weights.at("bert.encoder.layer.1.attention.self.key.weight").detached_clone();
  for (int i = 0; i < 8; ++i) changed.mutable_data<float>()[i * 33] += 0.5f;
  weights["bert.encoder.layer.1.attention.self.key.weight"] = changed;
  save_safetensors(model_ / "model.safetensors", weights);
  EXPECT_EQ(first_difference(), "attentions.1");
}

TEST_F(Verify, OtherTokensAreNamedAndDoNotHideTheModel) {
  metadata_["text"] = "The quick dog jumps.";
  const Verification verification = run();
  const TensorCheck* first = verification.first_difference();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "input_ids");
  EXPECT_NE(first->where.find("token 3"), std::string::npos) << first->where;
  EXPECT_NE(first->where.find("\"dog\""), std::string::npos) << first->where;
  EXPECT_EQ(std::ranges::count(verification.checks, false, &TensorCheck::passed), 1);
  metadata_.erase("pair");
  metadata_["text"] = "The quick fox";
  EXPECT_EQ(first_difference(), "input_ids");
}

// The batch axis left out, and padding at the end that PyTorch would have masked.
TEST_F(Verify, PaddingAndTheBatchAxisDoNotMatter) {
  for (auto& [name, tensor] : tensors_) {
    if (name == "pooler_output" || name == "logits") continue;
    Tensor bare = tensor.detached_reshape(Shape(tensor.shape().sizes().subspan(1)));
    const bool square = name.starts_with("attentions");
    for (int axis = square ? 1 : 0; axis < (square ? 3 : 1); ++axis) {
      const std::vector<Tensor> parts = {bare.detached_to(DType::f32), Tensor::zeros(bare.shape().with(axis, 2))};
      bare = concat(parts, axis).detached_to(tensor.dtype());
    }
    tensor = bare;
  }
  EXPECT_EQ(first_difference(), "none");
  tensors_["attention_mask"].mutable_data<std::int64_t>()[1] = 0;
  expect_refused("attention_mask");
}

TEST_F(Verify, HalfPrecisionDumpsHaveALargerTolerance) {
  for (auto& [name, tensor] : tensors_) {
    if (tensor.dtype() == DType::f32) tensor = tensor.detached_to(DType::f16);
  }
  EXPECT_EQ(first_difference(), "none");
  EXPECT_EQ(run(1e-5).first_difference()->name, "hidden_states.0");
}

TEST_F(Verify, NotANumberIsADifference) {
  Tensor changed = tensors_.at("logits").detached_clone();
  changed.mutable_data<float>()[1] = NAN;
  tensors_["logits"] = changed;
  EXPECT_EQ(first_difference(), "logits");
}

TEST_F(Verify, DumpsThatAreNotRightAreRefusedByName) {
  const TensorMap whole = tensors_;
  const auto metadata = metadata_;
  tensors_.erase("input_ids");
  expect_refused("has no tensor input_ids");
  tensors_ = whole;
  metadata_.erase("text");
  expect_refused("\"text\"");
  metadata_ = metadata;
  tensors_["hidden_states.3"] = whole.at("hidden_states.2");
  expect_refused("hidden_states.3");
  tensors_ = whole;
  tensors_["attentions.0"] = whole.at("attentions.0").detached_slice(2, 0, 4);
  expect_refused("attentions.0 is [1, 4, 4");
  tensors_ = whole;
  tensors_["input_ids"] = whole.at("hidden_states.0");
  expect_refused("input_ids is F32");
  tensors_["input_ids"] = Tensor::full({1, 400}, 1, DType::i64);
  tensors_.erase("attention_mask");
  expect_refused("400 tokens");
  tensors_ = whole;
  tensors_["input_ids"] = Tensor::full(whole.at("input_ids").shape(), 1e6, DType::i64);
  expect_refused("1000000");
  tensors_ = {{"input_ids", whole.at("input_ids")}};
  expect_refused("nothing to compare");
}

TEST(VerifyFamilies, HeadsAndArchitectures) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  const auto agrees = [](const Json& config, const std::string& architecture, const Json& more = Json::object()) {
    SCOPED_TRACE(config.dump());
    const test::TempFolder folder;
    const fs::path model = test::make_torch_folder(folder, config, architecture, "the lazy dog", more);
    const Verification verification = verify(LoadedModel(model, 4096), SafetensorsFile(model / "dump.safetensors"));
    EXPECT_EQ(verification.first_difference(), nullptr) << verification.first_difference()->name;
    EXPECT_GE(verification.checks.size(), 8u);
  };
  Json relative = bert_config("ForTokenClassification");
  relative["position_embedding_type"] = "relative_key_query";
  agrees(relative, "ForTokenClassification", {{"store", "F16"}});
  agrees(bert_config("ForNextSentencePrediction"), "ForNextSentencePrediction");
  Json albert = bert_config("");
  albert.update({{"model_type", "albert"},
                 {"architectures", {"AlbertForMaskedLM"}},
                 {"embedding_size", 10},
                 {"num_hidden_groups", 1},
                 {"inner_group_num", 2}});
  agrees(albert, "ForMaskedLM");
}

// Attention over a memory of zeros and the text: [H, T, M + T].
class VerifyTransformerXl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
    test::write_small_tokenizer(folder_.path());
    const std::string text = "the quick foxgang jumps over a lazy dog";
    Json config = test::small_transfo_xl();
    config.update({{"pre_lnorm", false},
                   {"untie_r", true},
                   {"tie_word_embeddings", true},
                   {"tie_projs", {false}},
                   {"layer_norm_epsilon", 1e-5}});
    const auto ids = text::load_tokenizer(folder_.path()).encode(text).ids;
    const Json question = {
        {"name", "model"}, {"config", config}, {"ids", Json::array({ids})}, {"segments", 1}, {"text", text}};
    const auto asked = folder_.write("questions.json", Json::array({question}).dump());
    ASSERT_EQ(test::run_python("models/transfo_xl_torch.py " + asked.string() + " " + folder_.path().string()), 0);
    test::write_small_tokenizer(folder_.path() / "model");
  }
  fs::path dump() const { return folder_.path() / "model" / "dump.safetensors"; }
  Verification run(const fs::path& file) const {
    return verify(LoadedModel(folder_.path() / "model", 4096), SafetensorsFile(file));
  }

  test::TempFolder folder_;
};

TEST_F(VerifyTransformerXl, AttentionAgrees) {
  const Verification verification = run(dump());
  EXPECT_EQ(names_of(verification),
            (std::vector<std::string>{"input_ids", "attentions.0", "attentions.1", "last_hidden_state", "logits"}));
  EXPECT_EQ(verification.first_difference(), nullptr) << verification.first_difference()->name;
}

TEST_F(VerifyTransformerXl, ElementsAreNamedByTheirTokens) {
  const auto changed = [&](std::int64_t key) {
    TensorMap tensors = SafetensorsFile(dump()).tensors();
    Tensor weights = tensors.at("attentions.1").detached_clone();
    weights.mutable_data<float>()[(1 * weights.size(2) + 3) * weights.size(3) + key] += 0.25F;
    tensors["attentions.1"] = weights;
    const fs::path file = folder_.path() / "changed.safetensors";
    save_safetensors(file, tensors, SafetensorsFile(dump()).metadata());
    const Verification verification = run(file);
    const TensorCheck* first = verification.first_difference();
    return first ? first->name + ": " + first->where : "none";
  };
  EXPECT_EQ(changed(6), "attentions.1: head 1, token 3 \"##gang\", key 6 \"the\"");
  EXPECT_EQ(changed(5), "attentions.1: head 1, token 3 \"##gang\", key 5");
}

}  // namespace
}  // namespace heed

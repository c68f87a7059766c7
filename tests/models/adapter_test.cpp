// Adapters in PEFT's files. What merging must give is computed here, tensor by tensor of the files, by PEFT's own
// definition: W + alpha / r * B A, transposed where a module is stored [in, out] (Conv1D).
#include "heed/models/adapter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/io/model_folder.h"
#include "heed/models/adapter_save.h"
#include "heed/models/load.h"
#include "heed/nn/module.h"
#include "heed/train/lora.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRank = 3;
constexpr double kAlpha = 5;

struct Family {
  Json config;
  HeadKind head = HeadKind::causal_lm;
  std::vector<std::string> targets;
  bool transposed = false;
};

Json decoder(const Json& fields) {
  Json config = {{"vocab_size", 40},         {"hidden_size", 24},           {"num_hidden_layers", 2},
                 {"num_attention_heads", 4}, {"intermediate_size", 32},     {"max_position_embeddings", 32},
                 {"initializer_range", 0.3}, {"tie_word_embeddings", false}};
  config.update(fields);
  return config;
}

std::map<std::string, Family> families() {
  return {{"llama",
           {decoder({{"model_type", "llama"}, {"num_key_value_heads", 2}}),
            HeadKind::causal_lm,
            {"query_key_value", "gate_up", "down"}}},
          {"gpt2",
           {{{"model_type", "gpt2"},
             {"vocab_size", 40},
             {"n_embd", 24},
             {"n_layer", 2},
             {"n_head", 4},
             {"n_positions", 32},
             {"initializer_range", 0.3}},
            HeadKind::causal_lm,
            {"query_key_value", "attention.output"},
            true}},
          {"gpt_neox",
           {decoder({{"model_type", "gpt_neox"}, {"hidden_size", 32}}),
            HeadKind::causal_lm,
            {"query_key_value", "feed_forward"}}},
          {"bert", {test::small_bert_config(), HeadKind::none, {"query_key_value", "attention.output"}}}};
}

void fill(Tensor& tensor, std::uint64_t seed) {
  auto* values = tensor.mutable_data<float>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    values[i] = static_cast<float>(uniform_double(seed, 1, static_cast<std::uint64_t>(i)) - 0.5);
  }
}

std::unique_ptr<Model> random_model(const Family& family) {
  auto model = std::make_unique<Model>(parse_model_config(family.config, "config.json"), family.head);
  initialize(*model, 1);
  return model;
}

// The base, an adapter of it, and the same merged, in folders.
void write(const Family& family, const fs::path& folder) {
  const auto model = random_model(family);
  save_model(*model, folder / "base");
  Lora lora(placed_parameters(*model), kRank, kAlpha, family.targets, 1, false);
  std::uint64_t seed = 7;
  for (const PlacedParameter& each : lora.parameters()) fill(*each.parameter, ++seed);
  save_adapter(*model, lora.additions(), {.base = (folder / "base").string(), .rank = kRank, .alpha = kAlpha},
               folder / "adapter");
  lora.merge();
  save_model(*model, folder / "merged");
}

std::vector<std::vector<double>> matrix(const Tensor& tensor) {
  const auto flat = tensor.detached_to(DType::f32).to_vector<float>();
  const auto columns = static_cast<std::size_t>(tensor.size(1));
  std::vector<std::vector<double>> rows(flat.size() / columns);
  for (std::size_t i = 0; i < flat.size(); ++i) rows[i / columns].push_back(static_cast<double>(flat[i]));
  return rows;
}

// What PEFT's merge_and_unload() makes of the files of a base and an adapter.
TensorMap merged_by_definition(const fs::path& base, const fs::path& adapter, double scale, bool transposed) {
  TensorMap weights = TensorFiles(base).tensors();
  const SafetensorsFile changes(adapter / "adapter_model.safetensors");
  const std::string prefix = "base_model.model.", a_end = ".lora_A.weight";
  for (const std::string& name : changes.names()) {
    if (!name.ends_with(a_end)) continue;
    const std::string module = name.substr(prefix.size(), name.size() - prefix.size() - a_end.size());
    const auto a = matrix(changes.tensor(name)), b = matrix(changes.tensor(prefix + module + ".lora_B.weight"));
    Tensor& weight = weights.at(module + ".weight");
    weight = weight.detached_to(DType::f32).detached_clone();
    auto* values = weight.mutable_data<float>();
    const std::size_t out = b.size(), in = a[0].size();
    EXPECT_EQ(weight.shape(), transposed ? Shape({static_cast<std::int64_t>(in), static_cast<std::int64_t>(out)})
                                         : Shape({static_cast<std::int64_t>(out), static_cast<std::int64_t>(in)}));
    for (std::size_t i = 0; i < out; ++i) {
      for (std::size_t j = 0; j < in; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k) sum += b[i][k] * a[k][j];
        float& value = values[transposed ? j * out + i : i * in + j];
        value = static_cast<float>(static_cast<double>(value) + scale * sum);
      }
    }
  }
  return weights;
}

void expect_near(const TensorMap& found, const TensorMap& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const auto mine = found.at(name).to_vector<float>(), theirs = tensor.detached_to(DType::f32).to_vector<float>();
    ASSERT_EQ(mine.size(), theirs.size()) << name;
    for (std::size_t i = 0; i < mine.size(); ++i) ASSERT_NEAR(mine[i], theirs[i], tolerance) << name << " " << i;
  }
}

TensorMap saved_again(const fs::path& folder, const fs::path& place) {
  save_model(*load_model(folder), place);
  return TensorFiles(place).tensors();
}

TEST(Adapter, MergedItIsWhatPeftDefinesAndWhatTrainingMerges) {
  for (const auto& [name, family] : families()) {
    SCOPED_TRACE(name);
    const test::TempFolder folder;
    write(family, folder.path());
    const TensorMap merged = saved_again(folder.path() / "adapter", folder.path() / "again");
    expect_near(
        merged,
        merged_by_definition(folder.path() / "base", folder.path() / "adapter", kAlpha / kRank, family.transposed),
        1e-6);
    for (const auto& [tensor, values] : TensorFiles(folder.path() / "merged").tensors()) {
      EXPECT_EQ(merged.at(tensor).to_vector<float>(), values.to_vector<float>()) << tensor;
    }
  }
}

TEST(Adapter, FilesHavePeftsNames) {
  const auto names_of = [](const std::string& family) {
    const test::TempFolder folder;
    write(families().at(family), folder.path());
    return std::pair(SafetensorsFile(folder.path() / "adapter" / "adapter_model.safetensors").names(),
                     parse_json(read_file(folder.path() / "adapter" / "adapter_config.json", 1 << 20), "config"));
  };
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const auto [llama, llama_config] = names_of("llama");
  EXPECT_EQ(llama.size(), 2u * 2 * 6);
  for (const char* module :
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
    const std::string whole = std::string("base_model.model.model.layers.1.") + module;
    EXPECT_TRUE(contains(llama, whole + ".lora_A.weight")) << whole;
    EXPECT_TRUE(contains(llama, whole + ".lora_B.weight")) << whole;
  }
  EXPECT_EQ(llama_config["target_modules"], (Json{"down_proj", "gate_proj", "k_proj", "q_proj", "up_proj", "v_proj"}));
  EXPECT_EQ(llama_config["peft_type"], "LORA");
  EXPECT_EQ(llama_config["task_type"], "CAUSAL_LM");
  EXPECT_EQ(llama_config["r"], kRank);
  EXPECT_EQ(llama_config["lora_alpha"], kAlpha);
  EXPECT_EQ(llama_config["bias"], "none");
  EXPECT_EQ(llama_config["fan_in_fan_out"], false);
  EXPECT_TRUE(llama_config["modules_to_save"].is_null());

  const auto [gpt2, gpt2_config] = names_of("gpt2");
  EXPECT_TRUE(contains(gpt2, "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"));
  // c_proj alone would name the feed-forward's too.
  EXPECT_EQ(gpt2_config["target_modules"], (Json{"attn.c_proj", "c_attn"}));
  EXPECT_EQ(gpt2_config["fan_in_fan_out"], true);

  const auto [bert, bert_config] = names_of("bert");
  EXPECT_TRUE(contains(bert, "base_model.model.encoder.layer.0.attention.self.query.lora_A.weight"));
  EXPECT_EQ(bert_config["target_modules"], (Json{"attention.output.dense", "key", "query", "value"}));
  EXPECT_EQ(bert_config["task_type"], "FEATURE_EXTRACTION");
}

// As PEFT writes them: A of its own for each module, some modules only, ranks and scales that differ, half precision.
class PeftFolder : public testing::Test {
 protected:
  PeftFolder() {
    save_model(*random_model(families().at("llama")), folder_.path() / "base");
    config_ = {{"peft_type", "LORA"},
               {"base_model_name_or_path", "../base"},
               {"r", 2},
               {"lora_alpha", 4},
               {"target_modules", "all-linear"},
               {"lora_dropout", 0.05},
               {"use_dora", false},
               {"use_rslora", false},
               {"megatron_core", "megatron.core"},
               {"corda_config", nullptr}};
    add("model.layers.0.self_attn.q_proj", 2, 24, 24);
    add("model.layers.1.self_attn.v_proj", 2, 24, 12);
    add("model.layers.1.mlp.up_proj", 2, 24, 32);
  }
  void add(const std::string& module, std::int64_t rank, std::int64_t in, std::int64_t out) {
    Tensor a = Tensor::empty({rank, in}), b = Tensor::empty({out, rank});
    fill(a, 2 * tensors_.size() + 1), fill(b, 2 * tensors_.size() + 2);
    tensors_["base_model.model." + module + ".lora_A.weight"] = a.detached_to(DType::f16);
    tensors_["base_model.model." + module + ".lora_B.weight"] = b.detached_to(DType::f16);
  }
  fs::path adapter() const {
    fs::create_directories(folder_.path() / "adapter");
    folder_.write("adapter/adapter_config.json", config_.dump());
    save_safetensors(folder_.path() / "adapter" / "adapter_model.safetensors", tensors_);
    return folder_.path() / "adapter";
  }
  void expect_merged(double scale) const {
    expect_near(saved_again(adapter(), folder_.path() / "again"),
                merged_by_definition(folder_.path() / "base", adapter(), scale, false), 1e-6);
  }
  std::string refused(ErrorKind kind = ErrorKind::bad_format) const {
    const fs::path folder = adapter();
    return test::error_of(kind, [&] { static_cast<void>(load_model(folder)); });
  }

  test::TempFolder folder_;
  Json config_;
  TensorMap tensors_;
};

TEST_F(PeftFolder, SeparateModulesAreMerged) {
  expect_merged(2);
  const ModelFolder folder(adapter());
  EXPECT_TRUE(folder.is_adapter());
  EXPECT_EQ(folder.config()["model_type"], "llama");
  config_["use_rslora"] = true;
  expect_merged(4 / std::sqrt(2.0));
}

TEST_F(PeftFolder, ScalesGoByPatternsAndRanksByTensors) {
  tensors_.clear();
  add("model.layers.0.mlp.down_proj", 5, 32, 24);
  config_["rank_pattern"] = {{"down_proj", 5}};
  config_["alpha_pattern"] = {{"mlp.down_proj", 10}};
  expect_merged(2);
}

TEST_F(PeftFolder, WholeTensorsTakeTheirPlace) {
  tensors_["base_model.model.lm_head.weight"] = Tensor::full({40, 24}, 0.25);
  const auto merged = saved_again(adapter(), folder_.path() / "again");
  for (const float value : merged.at("lm_head.weight").to_vector<float>()) ASSERT_EQ(value, 0.25f);
}

TEST_F(PeftFolder, TensorsThatDoNotFitAreAllNamed) {
  const std::string prefix = "base_model.model.model.layers.";
  tensors_.erase(prefix + "0.self_attn.q_proj.lora_B.weight");
  tensors_[prefix + "1.self_attn.v_proj.lora_B.weight"] = Tensor::zeros({24, 2});
  tensors_[prefix + "1.mlp.up_proj.lora_A.weight"] = Tensor::zeros({2});
  tensors_[prefix + "7.mlp.up_proj.lora_A.weight"] = Tensor::zeros({2, 24});
  tensors_["base_model.model.model.embed_tokens.lora_embedding_A"] = Tensor::zeros({2, 40});
  const std::string message = refused();
  for (const char* problem :
       {"missing base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight",
        "1.self_attn.v_proj.lora_B.weight is [24, 2], expected [12, 2]", "1.mlp.up_proj.lora_A.weight is [2], expected",
        "unknown base_model.model.model.layers.7.mlp.up_proj.lora_A.weight",
        "unknown base_model.model.model.embed_tokens.lora_embedding_A"}) {
    EXPECT_NE(message.find(problem), std::string::npos) << problem << "\n" << message;
  }
}

TEST_F(PeftFolder, WhatIsNotKnownIsRefusedByName) {
  const Json good = config_;
  for (const auto& [field, value, problem] : std::vector<std::tuple<std::string, Json, std::string>>{
           {"peft_type", "IA3", "expected LORA"},
           {"peft_type", 3, "peft_type is"},
           {"use_dora", true, "use_dora is true"},
           {"init_lora_weights", "pissa", "init_lora_weights is \"pissa\""},
           {"layer_replication", Json::array({Json::array({0, 1})}), "layer_replication is"},
           {"alpha_pattern", {{".*proj", 3}}, "alpha_pattern is"},
           {"alpha_pattern", {{"q_proj", "x"}}, "alpha_pattern is"},
           {"lora_alpha", "x", "lora_alpha is"},
           {"trainable_token_indices", {1, 2}, "trainable_token_indices is [1,2]"}}) {
    config_ = good;
    config_[field] = value;
    const std::string message = refused();
    EXPECT_NE(message.find("adapter_config.json"), std::string::npos) << message;
    EXPECT_NE(message.find(problem), std::string::npos) << message;
  }
}

TEST_F(PeftFolder, TheBaseIsLookedFor) {
  config_["base_model_name_or_path"] = (folder_.path() / "base").string();
  expect_merged(2);
  config_["base_model_name_or_path"] = "nobody/nothing";
  const std::string message = refused(ErrorKind::not_found);
  EXPECT_NE(message.find("heed pull nobody/nothing"), std::string::npos) << message;
  EXPECT_NE(message.find("set base_model_name_or_path to its folder"), std::string::npos) << message;
  config_["base_model_name_or_path"] = nullptr;
  EXPECT_NE(refused().find("does not name the model"), std::string::npos);
  config_["base_model_name_or_path"] = ".";
  EXPECT_NE(refused().find("is an adapter itself"), std::string::npos);
  config_["base_model_name_or_path"] = "../base";
  const fs::path folder = adapter();
  fs::remove(folder / "adapter_model.safetensors");
  const std::string pickled = test::error_of(ErrorKind::not_found, [&] { static_cast<void>(load_model(folder)); });
  EXPECT_NE(pickled.find("never as pickle files"), std::string::npos) << pickled;
}

}  // namespace
}  // namespace heed

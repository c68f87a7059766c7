#include "heed/train/lora.h"

#include <gtest/gtest.h>

#include "heed/nn/module.h"
#include "support/error_of.h"
#include "support/random_model.h"

namespace heed {
namespace {

// Places as the trainer gives them: the backbone, the main head, and a further head with what it has for itself.
TEST(Lora, FreezesTheBackboneAndNoHead) {
  const std::vector<std::string> names = {"encoder.layer.0.query_key_value.weight",
                                          "encoder.layer.0.query_key_value.bias",
                                          "encoder.word.weight",
                                          "head.output.weight",
                                          "heads.slots.head.output.weight",
                                          "heads.slots.encoder.pooler.weight"};
  std::vector<Tensor> tensors;
  std::vector<PlacedParameter> parameters;
  for (const std::string& name : names) {
    tensors.push_back(name.ends_with("bias") ? Tensor::zeros({4}) : Tensor::zeros({4, 4}));
    tensors.back().set_requires_grad();
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool head = names[i].starts_with("head");
    parameters.push_back({{names[i], &tensors[i]},
                          {head ? ParameterPlace::Part::head : ParameterPlace::Part::layers},
                          !names[i].ends_with("bias")});
  }
  Lora lora(parameters, 2, 4, {"query_key_value"}, 1);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(tensors[i].requires_grad(), i >= 3) << names[i];
  const std::vector<PlacedParameter> added = lora.parameters();
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[0].name, "encoder.layer.0.query_key_value.weight.lora_a");
  EXPECT_EQ(added[1].name, "encoder.layer.0.query_key_value.weight.lora_b");
}

TEST(Lora, TargetsAreWholePartsOfNames) {
  const std::vector<std::string> names = {"embeddings.word.weight",
                                          "layers.0.attention.query_key_value.weight",
                                          "layers.0.attention.output.weight",
                                          "layers.0.feed_forward.up.weight",
                                          "layers.10.attention.query_key_value.weight",
                                          "layers.10.attention.output.weight",
                                          "layers.10.feed_forward.up.weight"};
  std::vector<Tensor> tensors(names.size(), Tensor::zeros({4, 4}));
  const auto chosen = [&](const std::vector<std::string>& targets) {
    std::vector<PlacedParameter> parameters;
    for (std::size_t i = 0; i < names.size(); ++i) {
      parameters.push_back({{names[i], &tensors[i]}, {ParameterPlace::Part::layers}, true});
    }
    std::vector<std::string> weights;
    for (const LowRank& each : Lora(parameters, 2, 4, targets, 1).additions()) weights.push_back(each.parameter);
    return weights;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen({"output"}), (Names{names[2], names[5]}));
  EXPECT_EQ(chosen({"attention"}), (Names{names[1], names[2], names[4], names[5]}));
  EXPECT_EQ(chosen({"attention.output", "up"}), (Names{names[2], names[3], names[5], names[6]}));
  EXPECT_EQ(chosen({"layers.0"}), (Names{names[1], names[2], names[3]}));
  EXPECT_EQ(chosen({"layers.10.feed_forward"}), Names{names[6]});
  const auto refused = [&](const std::vector<std::string>& targets) {
    return test::error_of(ErrorKind::invalid_argument, [&] { chosen(targets); });
  };
  for (const char* part : {"query", "key_value", "put", "forward.u", "layers.1", "weight", "", "."}) {
    EXPECT_EQ(refused({"output", part}),
              std::string("[lora] the model has no weight \"") + part +
                  "\" (lora.targets); there are attention.output, attention.query_key_value, embeddings.word, "
                  "feed_forward.up");
  }
  EXPECT_NE(refused({}).find("lora.targets is empty; there are attention.output"), std::string::npos);
}

// Transformer-XL's biases [heads, head_dim] have two axes and multiply nothing.
TEST(Lora, WhatIsNoWeightGetsNoAddition) {
  Model model(parse_model_config(test::small_transfo_xl(), "config.json"), HeadKind::causal_lm);
  initialize(model, 1);
  std::vector<std::string> names;
  for (const LowRank& each : Lora(placed_parameters(model), 2, 4, {"layer.0.attention"}, 1).additions()) {
    names.push_back(each.parameter);
  }
  const std::string attention = "encoder.layer.0.attention.";
  EXPECT_EQ(names, (std::vector<std::string>{attention + "query_key_value.weight", attention + "position.weight",
                                             attention + "output.weight"}));
}

}  // namespace
}  // namespace heed

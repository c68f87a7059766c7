#include "heed/train/lora.h"

#include <gtest/gtest.h>

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
    parameters.push_back({{names[i], &tensors[i]}, {head ? ParameterPlace::Part::head : ParameterPlace::Part::layers}});
  }
  Lora lora(parameters, 2, 4, {"query_key_value"}, 1);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(tensors[i].requires_grad(), i >= 3) << names[i];
  const std::vector<PlacedParameter> added = lora.parameters();
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[0].name, "encoder.layer.0.query_key_value.weight.lora_a");
  EXPECT_EQ(added[1].name, "encoder.layer.0.query_key_value.weight.lora_b");
}

}  // namespace
}  // namespace heed

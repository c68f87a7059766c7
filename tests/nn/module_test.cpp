#include "heed/nn/module.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/nn/context.h"
#include "heed/nn/feed_forward.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

class Small : public Module {
 public:
  Small() { head.tie(embedding); }
  void visit(Visitor& visitor) const override {
    visitor.child("embedding", embedding);
    visitor.child("layer", 0, feed_forward);
    visitor.child("norm", norm);
    visitor.child("head", head);
  }
  Embedding embedding{5, 4};
  FeedForward feed_forward{4, {.intermediate_size = 8}};
  Norm norm{4};
  Linear head{4, 5, false};
};

// A parameter by its name, tied ones by their first.
Tensor parameter(const Module& module, std::string_view name) {
  for (const NamedConstParameter& named : named_parameters(module)) {
    if (named.name == name) return *named.parameter;
  }
  ADD_FAILURE() << name;
  return Tensor();
}

TEST(Module, ListsNamesOnceAndCounts) {
  const Small model;
  std::vector<std::string> names;
  for (const auto& [name, parameter] : named_parameters(model)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"embedding.weight", "layer.0.up.weight", "layer.0.up.bias",
                                             "layer.0.down.weight", "layer.0.down.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(count_parameters(model), 5 * 4 + 8 * 4 + 8 + 4 * 8 + 4 + 4 + 4);
}

TEST(Module, StartingValuesDependOnSeedAndNameOnly) {
  Small a, b, c;
  initialize(a, 1);
  initialize(b, 1);
  initialize(c, 2);
  const Tensor up = parameter(a, "layer.0.up.weight");
  EXPECT_TRUE(same_bits(up, parameter(b, "layer.0.up.weight")));
  EXPECT_FALSE(same_bits(up, parameter(c, "layer.0.up.weight")));
  EXPECT_FALSE(same_bits(up, parameter(a, "layer.0.down.weight").detached_transpose(0, 1)));
  EXPECT_EQ(a.norm.weight.to_vector<float>(), std::vector<float>(4, 1));
  EXPECT_TRUE(parameter(a.head, "weight").requires_grad());
}

TEST(Module, TiedWeightsShareTheirGradient) {
  Small model;
  initialize(model, 1);
  backward(sum(model.head.forward(model.embedding.forward(Tensor::from<std::int32_t>({0, 1}, {2})))));
  ASSERT_TRUE(model.embedding.weight.parameter().grad().defined());
  EXPECT_TRUE(same_bits(model.embedding.weight.parameter().grad(), parameter(model.head, "weight").grad()));
}

TEST(Module, TyingAModuleKeepsItsOwnTies) {
  Small a, b;
  EXPECT_EQ(tie(a, b), 8u);  // the head's handle of the table too
  EXPECT_EQ(b.embedding.weight.parameter().storage(), a.embedding.weight.parameter().storage());
  EXPECT_EQ(parameter(b.head, "weight").storage(), a.embedding.weight.parameter().storage());
  EXPECT_EQ(count_parameters(b), count_parameters(a));
}

TEST(Module, ALinearIsTiedToATableOfItsShape) {
  Linear head(4, 5);
  EXPECT_THROW(head.tie(Embedding(4, 5)), Error);
  Embedding table(5, 4);
  initialize(table, 1);
  head.tie(table);
  EXPECT_EQ(parameter(head, "weight").storage(), table.weight.parameter().storage());
  Embedding target(5, 4);
  target.tie(table);
  EXPECT_EQ(target.weight.parameter().storage(), table.weight.parameter().storage());
  EXPECT_THROW(target.tie(Embedding(6, 4)), Error);
}

TEST(Module, FreezingByName) {
  Small model;
  initialize(model, 1);
  const auto all = parameters(model).size();
  EXPECT_EQ(set_trainable(model, false, [](std::string_view name) { return name.starts_with("norm."); }), 2u);
  EXPECT_EQ(parameters(model).size(), all - 2);
  EXPECT_EQ(set_trainable(model, true, [](std::string_view name) { return name == "norm.bias"; }), 1u);
  EXPECT_EQ(parameters(model).size(), all - 1);
}

TEST(Module, StateLoadsIntoAnotherAndRefusesMisfits) {
  Small a, b;
  initialize(a, 1);
  initialize(b, 2);
  load_state(b, state(a));
  EXPECT_TRUE(same_bits(parameter(a, "layer.0.down.weight"), parameter(b, "layer.0.down.weight")));

  TensorMap wrong = state(a);
  wrong.erase("norm.bias");
  wrong["layer.0.up.bias"] = Tensor::zeros({3});
  wrong["stranger"] = Tensor::zeros({1});
  const Tensor before = b.norm.weight.detached_clone();
  try {
    load_state(b, wrong);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_format);
    const std::string text = error.what();
    for (const char* part : {"missing norm.bias [4]", "layer.0.up.bias is [3], expected [8]", "unknown stranger [1]"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  EXPECT_TRUE(same_bits(before, b.norm.weight));
}

TEST(Initializer, DistributionsAreAsDocumented) {
  Tensor weight = Tensor::empty({300, 200});
  Initializer::normal(0.02).fill(weight, 1, 1);
  double mean = 0, square = 0, most = 0;
  for (float w : weight.to_vector<float>()) mean += w / 60000.0, square += double{w} * w / 60000.0;
  EXPECT_NEAR(mean, 0, 4e-4);
  EXPECT_NEAR(std::sqrt(square), 0.02, 2e-4);
  Initializer::xavier_uniform().fill(weight, 1, 1);
  square = 0;
  for (float w : weight.to_vector<float>())
    most = std::max(most, std::abs(double{w})), square += double{w} * w / 60000.0;
  EXPECT_LE(most, std::sqrt(6.0 / 500));
  EXPECT_NEAR(square, 2.0 / 500, 1e-4);
  Tensor vector = Tensor::empty({3});
  EXPECT_THROW(Initializer::xavier_uniform().fill(vector, 1, 1), Error);
}

TEST(Layers, OneHotTimesATableIsAnEmbedding) {
  Embedding table(5, 3);
  initialize(table, 3);
  const Tensor ids = Tensor::from<std::int64_t>({4, 0, 4}, {3});
  const Tensor picked = matmul(OneHot(5).forward(ids), table.weight.parameter());
  EXPECT_TRUE(same_bits(picked.detach(), table.forward(ids).detach()));
  EXPECT_THROW(table.forward(Tensor::from<std::int64_t>({5}, {1})), Error);
}

TEST(Layers, DropoutIsAFunctionOfSeedStepAndPlace) {
  const Dropout layer(0.5);
  const Tensor x = Tensor::full({64}, 1.0);
  auto at = [&](std::uint64_t seed, std::uint64_t step, const char* place) {
    return layer.forward(x, Context::training(seed, step).child(place));
  };
  EXPECT_TRUE(same_bits(at(1, 2, "a"), at(1, 2, "a")));
  EXPECT_FALSE(same_bits(at(1, 2, "a"), at(1, 2, "b")));
  EXPECT_FALSE(same_bits(at(1, 2, "a"), at(1, 3, "a")));
  EXPECT_FALSE(same_bits(at(1, 2, "a"), at(2, 2, "a")));
  EXPECT_TRUE(same_bits(layer.forward(x, Context()), x));
}

TEST(Context, TapsSayWhereTheyAre) {
  struct Seen : Probe {
    void on_tensor(const Tap& tap, const Tensor&) override { taps.push_back(tap); }
    bool wants(const Tap& tap) const override { return tap.head == 1; }
    std::vector<Tap> taps;
  } probe;
  const Context root = Context::watched_by(probe);
  const Context layer = root.child("layer", 3).at_layer(3).child("cross_attention").in(Tap::Part::cross);
  layer.tap(Tap::Kind::entropy, Tensor::zeros({1}));
  int made = 0;
  for (const std::int64_t head : {0, 1, 2}) {
    layer.tap_weights(5, head, [&] {
      ++made;
      return Tensor::zeros({1});
    });
  }
  root.tap(Tap::Kind::logits, Tensor::zeros({1}));
  EXPECT_EQ(made, 1);  // what nobody wants is not made
  ASSERT_EQ(probe.taps.size(), 3u);
  EXPECT_EQ(probe.taps[0].kind, Tap::Kind::entropy);
  EXPECT_EQ(probe.taps[0].part, Tap::Part::cross);
  EXPECT_EQ(probe.taps[0].layer, 3);
  EXPECT_EQ(probe.taps[1].kind, Tap::Kind::weights);
  EXPECT_EQ(probe.taps[1].sequence, 5);
  EXPECT_EQ(probe.taps[1].head, 1);
  EXPECT_EQ(probe.taps[2].kind, Tap::Kind::logits);
  EXPECT_EQ(probe.taps[2].layer, -1);
}

}  // namespace
}  // namespace heed

// Statements about heads, blocks and parameters that are often printed wrong, as tests/attention/errata_test.cpp does
// for the formulas of attention. docs/errata.md lists all of them.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "attention/plain.h"
#include "heed/attention/positions.h"
#include "heed/nn/stack.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/linear.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/ops/shape_ops.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using plain::attended, plain::difference, plain::kDifferent, plain::kEqual, plain::matrix, plain::one_head,
    plain::transposed;

constexpr std::int64_t kWidth = 8, kHeads = 2, kTokens = 6, kHeadWidth = kWidth / kHeads;

template <class Model>
void prepare(Model& model, std::uint64_t seed) {
  initialize(model, seed);
  convert_parameters(model, DType::f64);
}

Packed tokens(const Tensor& x) {
  return Packed(x, {x.size(0)});
}

// A layer of two heads and its matrices. They are kept as [out, in]; head h owns kHeadWidth rows of W_Q, W_K and W_V.
struct Layer {
  explicit Layer(std::uint64_t seed = 1) : attention(kWidth, {.heads = kHeads, .fused = false}) {
    prepare(attention, seed);
    weights = state(attention);
  }
  Tensor forward(const Tensor& x) const { return attention.forward(tokens(x), {}, Context()); }
  // x W_h, [n, kHeadWidth]
  Tensor project(const Tensor& x, const char* matrix_name, std::int64_t h) const {
    const Tensor& w = weights.at(std::string(matrix_name) + ".weight");
    return matmul(x, transposed(w.detached_slice(0, h * kHeadWidth, (h + 1) * kHeadWidth)));
  }
  Tensor head(const Tensor& x, std::int64_t h) const {
    return attended(project(x, "query", h), project(x, "key", h), project(x, "value", h));
  }
  Tensor project_out(const Tensor& joined) const { return matmul(joined, transposed(weights.at("output.weight"))); }

  MultiHeadAttention attention;
  TensorMap weights;
};

Tensor input() {
  return matrix("x", kTokens, kWidth);
}

Tensor changed(const Tensor& x, std::int64_t row) {
  Tensor y = x.detached_clone();
  for (std::int64_t c = 0; c < x.size(1); ++c) y.mutable_data<double>()[row * x.size(1) + c] += 1 + 0.1 * double(c);
  return y;
}

Tensor row(const Tensor& x, std::int64_t i) {
  return x.detached_slice(0, i, i + 1);
}

TEST(Errata, E18_OneHeadSeesAllPositions) {
  const Layer layer;
  for (std::int64_t j = 0; j < kTokens; ++j) {
    const Tensor before = layer.head(input(), 0), after = layer.head(changed(input(), j), 0);
    // Were it blind for its context, only row j would change.
    for (std::int64_t i = 0; i < kTokens; ++i) EXPECT_GT(difference(row(before, i), row(after, i)), 1e-4) << i;
  }
  // What tells heads apart is the subspace they were given: same projections, same head.
  auto weights = [&](std::int64_t h) {
    const Tensor q = layer.project(input(), "query", h), k = layer.project(input(), "key", h);
    return plain::weights(one_head(q, k, k));
  };
  EXPECT_GT(difference(weights(0), weights(1)), kDifferent);
}

TEST(Errata, E19_HeadsAreConcatenatedThenProjected) {
  const Layer layer;
  EXPECT_EQ(layer.project(input(), "query", 0).shape(), Shape({kTokens, kWidth / kHeads}));  // W_i is d x d/h
  const std::vector<Tensor> heads = {layer.head(input(), 0), layer.head(input(), 1)};
  EXPECT_LT(difference(layer.forward(input()), layer.project_out(concat(heads, 1))), kEqual);
  const Tensor sum = add(heads[0], heads[1]);
  EXPECT_GT(difference(layer.forward(input()), layer.project_out(concat(std::vector{sum, sum}, 1))), kDifferent);
}

TEST(Errata, E21_ADecoderIsMaskedAndReadsAMemory) {
  const BlockConfig block{.hidden_size = kWidth, .attention = {.heads = kHeads}};
  Stack encoder({.block = block});
  BlockConfig with_cross = block;
  with_cross.cross = true;
  Stack decoder({.block = with_cross});
  prepare(encoder, 2), prepare(decoder, 2);
  auto encode = [&](const Tensor& x) { return encoder.forward(tokens(x), {}, Context()); };
  auto decode = [&](const Tensor& x, const Tensor& read) {
    const Memory memory{tokens(read)};
    return decoder.forward(tokens(x), {.attention = {.mask = Mask::causal()}, .memory = &memory}, Context());
  };
  const Tensor memory = matrix("memory", 4, kWidth), last = changed(input(), kTokens - 1), first = changed(input(), 0);
  EXPECT_GT(difference(row(encode(input()), 0), row(encode(last), 0)), 1e-3);                   // sees the future
  EXPECT_EQ(difference(row(decode(input(), memory), 0), row(decode(last, memory), 0)), 0);      // does not
  EXPECT_GT(difference(row(decode(input(), memory), 5), row(decode(first, memory), 5)), 1e-3);  // sees the past
  EXPECT_GT(difference(row(decode(input(), memory), 0), row(decode(input(), changed(memory, 3)), 0)),
            1e-3);  // cross-attention
  std::ostringstream parts;
  for (const NamedParameter& p : named_parameters(decoder)) parts << p.name << '\n';
  for (const char* part : {"0.attention.", "0.cross_attention.", "0.feed_forward."}) {
    EXPECT_NE(parts.str().find(part), std::string::npos) << part;
  }
}

TEST(Errata, E31_TheOutputIsHeadsTimesValueWidth) {
  const Tensor q = testing::values("q", {kTokens, 3, 4}), k = testing::values("k", {kTokens, 3, 4}),
               v = testing::values("v", {kTokens, 3, 5}), w = testing::values("w", {kTokens, 3, 5});
  auto run = [&](const Tensor& values) {
    return attend({.q = q, .k = k, .v = values, .queries = {kTokens}, .keys = {kTokens}});
  };
  EXPECT_EQ(run(v).shape(), Shape({kTokens, 3, 5}));
  // Apart from the softmax a head is linear.
  EXPECT_LT(difference(run(add(v, w)), add(run(v), run(w))), kEqual);
  // The number of layers does not widen it.
  const BlockConfig block{.hidden_size = kWidth, .attention = {.heads = kHeads}};
  Stack one({.block = block}), three({.block = block, .layers = 3});
  prepare(one, 3), prepare(three, 3);
  EXPECT_EQ(one.forward(tokens(input()), {}, Context()).shape(), three.forward(tokens(input()), {}, Context()).shape());
  // Heads share nothing: if they did, both would give the same.
  const Layer layer;
  EXPECT_GT(difference(layer.head(input(), 0), layer.head(input(), 1)), kDifferent);
}

TEST(Errata, E33_HeadsSplitFeatures) {
  const Layer layer;
  // Features: a head's output has a row for each token ...
  EXPECT_EQ(layer.head(input(), 0).size(0), kTokens);
  // ... where a split of the sequence would let the first half know nothing of the second.
  MultiHeadAttention halves(kWidth, {.heads = kHeads, .fused = false});
  prepare(halves, 1);
  const Tensor split = halves.forward(Packed(input(), {kTokens / 2, kTokens / 2}), {}, Context());
  EXPECT_GT(difference(layer.forward(input()), split), kDifferent);
  EXPECT_EQ(difference(row(split, 0), row(halves.forward(Packed(changed(input(), 5), {3, 3}), {}, Context()), 0)), 0);
}

TEST(Errata, E33_TheScaleIsNotTheNumberOfHeads) {
  const Tensor q = testing::values("q", {5, 4, 9}), k = testing::values("k", {5, 4, 9});
  AttentionInput in{.q = q, .k = k, .v = k, .queries = {5}, .keys = {5}};
  const Tensor usual = attend(in);
  in.scale = 1 / std::sqrt(9.0);
  EXPECT_TRUE(same_bits(usual, attend(in)));
  in.scale = 1 / std::sqrt(4.0);
  EXPECT_GT(difference(usual, attend(in)), kDifferent);
}

TEST(Errata, E33_PositionsAreAddedToTheInput) {
  const Layer layer;
  const std::vector<std::int64_t> order = {3, 0, 5, 1, 4, 2};
  auto permuted = [&](const Tensor& x) { return take_rows(x, Tensor::from(order, {kTokens})); };
  const Tensor codes = sinusoidal_positions(kTokens, kWidth, DType::f64);
  // Without positions the order of tokens means nothing to attention, and no output map can bring it back.
  EXPECT_LT(difference(permuted(layer.forward(input())), layer.forward(permuted(input()))), kEqual);
  EXPECT_GT(difference(permuted(layer.forward(add(input(), codes))), layer.forward(add(permuted(input()), codes))),
            kDifferent);
}

TEST(Errata, E34_ParametersDoNotGrowWithTheText) {
  MultiHeadAttention attention(
      kWidth, {.heads = kHeads, .query_bias = false, .key_bias = false, .value_bias = false, .output_bias = false});
  prepare(attention, 4);
  EXPECT_EQ(count_parameters(attention), 4 * kWidth * kWidth);
  for (std::int64_t length : {1, 300}) {
    const Tensor y = attention.forward(tokens(matrix("x", length, kWidth)), {}, Context());
    EXPECT_EQ(y.shape(), Shape({length, kWidth}));
  }
  // Work does: tests/attention/errata_test.cpp counts the scores (E15).
}

TEST(Errata, E35_TheResidualComesAfterTheOutputMap) {
  for (bool pre_norm : {false, true}) {
    Block block({.hidden_size = kWidth,
                 .attention = {.heads = kHeads},
                 .feed_forward = {.intermediate_size = 12},
                 .norm_place = pre_norm ? NormPlace::pre : NormPlace::post});
    prepare(block, 5);
    TensorMap w = state(block);
    auto norm = [&](const Tensor& x, const char* name) {
      return layer_norm(x, w.at(std::string(name) + ".weight"), w.at(std::string(name) + ".bias"), 1e-5);
    };
    auto attention = [&](const Tensor& x) {  // Z, before W_O
      const Tensor qkv =
          linear(x, Weight(w.at("attention.query_key_value.weight")), w.at("attention.query_key_value.bias"));
      const Tensor z = attend_fused(qkv, kHeads, kHeads, {.queries = {kTokens}, .keys = {kTokens}});
      return reshape(z, {kTokens, kWidth});
    };
    auto out = [&](const Tensor& z) { return linear(z, Weight(w.at("attention.output.weight"))); };
    auto feed_forward_of = [&](const Tensor& x) {
      return feed_forward(x, Weight(w.at("feed_forward.up.weight")), w.at("feed_forward.up.bias"), Activation::gelu,
                          Weight(w.at("feed_forward.down.weight")), w.at("feed_forward.down.bias"));
    };
    auto finish = [&](const Tensor& y) {
      return pre_norm ? add(y, feed_forward_of(norm(y, "feed_forward_norm")))
                      : norm(add(y, feed_forward_of(y)), "feed_forward_norm");
    };
    const Tensor right = pre_norm ? add(input(), out(attention(norm(input(), "attention_norm"))))
                                  : norm(add(input(), out(attention(input()))), "attention_norm");
    const Tensor printed = norm(out(add(input(), attention(input()))), "attention_norm");  // (X + Z) W_O
    const Tensor found = block.forward(tokens(input()), {}, Context());
    EXPECT_LT(difference(found, finish(right)), kEqual);
    EXPECT_GT(difference(found, finish(printed)), kDifferent);
  }
}

TEST(Errata, E43_HeadsWorkSideBySide) {
  const Layer layer;
  const Tensor parallel = layer.project_out(concat(std::vector{layer.head(input(), 0), layer.head(input(), 1)}, 1));
  EXPECT_LT(difference(layer.forward(input()), parallel), kEqual);
  const Layer second(6);
  EXPECT_GT(difference(layer.forward(input()), second.forward(layer.forward(input()))), kDifferent);  // stacked
  // 2 heads x (W_Q, W_K, W_V) = 6 matrices of d x d/2, and W_O.
  std::int64_t matrices = 0;
  for (const auto& [name, tensor] : layer.weights) {
    if (tensor.rank() == 2) matrices += name == "output.weight" ? 1 : tensor.size(0) / kHeadWidth;
  }
  EXPECT_EQ(matrices, 7);
}

TEST(Errata, E44_BiasesAndTheOutputMapAreParametersToo) {
  MultiHeadAttention bare(kWidth, {.query_bias = false, .key_bias = false, .value_bias = false, .output_bias = false}),
      usual(kWidth, {});
  EXPECT_EQ(count_parameters(bare), 3 * kWidth * kWidth + kWidth * kWidth);  // W_Q, W_K, W_V, and W_O
  EXPECT_EQ(count_parameters(usual), count_parameters(bare) + 4 * kWidth);
  // They matter: without them the result is another.
  const Layer layer;
  const Tensor without = concat(std::vector{layer.head(input(), 0), layer.head(input(), 1)}, 1);
  EXPECT_GT(difference(layer.forward(input()), without), kDifferent);
}

// docs/errata.md and the tests say the same.
TEST(ErrataPage, NamesEveryTestAndNoOther) {
  std::stringstream page;
  page << std::ifstream(test::tests_folder() / "../docs/errata.md").rdbuf();
  std::set<std::string> named, written;
  const std::string text = page.str();
  for (std::size_t at = text.find("`E"); at != std::string::npos; at = text.find("`E", at + 1)) {
    named.insert(text.substr(at + 1, text.find('`', at + 1) - at - 1));
  }
  const auto& tests = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < tests.total_test_suite_count(); ++s) {
    const auto& suite = *tests.GetTestSuite(s);
    for (int i = 0; std::string(suite.name()) == "Errata" && i < suite.total_test_count(); ++i) {
      written.insert(suite.GetTestInfo(i)->name());
    }
  }
  EXPECT_FALSE(written.empty());
  EXPECT_EQ(named, written);
}

}  // namespace
}  // namespace heed

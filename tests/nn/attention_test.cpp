#include "heed/nn/attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/nn/stack.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"
#include "nn/gradient_check.h"

namespace heed {
namespace {

using testing::expect_gradients, testing::noise;

TEST(MultiHeadAttention, TransformerXlGradientsMatchFiniteDifferences) {
  for (const bool fused : {true, false}) {
    MultiHeadAttention attention(8, {.heads = 2, .fused = fused, .transformer_xl = true});
    initialize(attention, 2);
    convert_parameters(attention, DType::f64);
    const Packed x(noise("x", {7, 8}, DType::f64), {3, 4});
    const Tensor target = noise("target", {7, 8}, DType::f64);
    expect_gradients(attention, [&] {
      return mean_squared_error(attention.forward(x, {.mask = Mask::causal()}, Context()), target);
    });
  }
}

// What a segment computes with the tokens before it as memory is what one long segment computes.
TEST(MultiHeadAttention, TransformerXlSegmentsContinueEachOther) {
  MultiHeadAttention attention(8, {.heads = 2, .transformer_xl = true});
  initialize(attention, 2);
  for (const NamedParameter& named : named_parameters(attention)) {
    if (named.name.ends_with("_bias")) named.parameter->copy_from(noise("bias", named.parameter->shape()));
  }
  const AttentionCall causal{.mask = Mask::causal()};
  const Tensor x = noise("x", {12, 8});
  const Packed whole(x, {12}), first(x.detached_slice(0, 0, 7), {7}), second(x.detached_slice(0, 7, 12), {5});
  const Tensor expected = attention.forward(whole, causal, Context());
  const Tensor got = attention.forward(second, {.mask = Mask::causal(), .before = first}, Context());
  EXPECT_TRUE(same_bits(got, expected.detached_slice(0, 7, 12)));
  const Tensor without = attention.forward(second, causal, Context());
  EXPECT_FALSE(same_bits(without, expected.detached_slice(0, 7, 12)));
}

// An empty memory is as many zeros before the first token.
TEST(MultiHeadAttention, AnEmptyMemoryIsStatesOfZeros) {
  const Packed x(noise("x", {7, 8}), {3, 4});
  MultiHeadAttention plain(8, {.heads = 2, .transformer_xl = true}),
      empty(8, {.heads = 2, .transformer_xl = true, .empty_memory = 2});
  initialize(plain, 2);
  initialize(empty, 2);
  const Packed zeros(Tensor::zeros({4, 8}), {2, 2});
  const Tensor expected = plain.forward(x, {.mask = Mask::causal(), .before = zeros}, Context());
  EXPECT_TRUE(same_bits(empty.forward(x, {.mask = Mask::causal()}, Context()), expected));
  EXPECT_FALSE(same_bits(plain.forward(x, {.mask = Mask::causal()}, Context()), expected));
  // What there is takes the place of the last zeros.
  const Packed one(noise("one", {1, 8}), {1, 0});
  const Packed filled(concat(std::vector{Tensor::zeros({1, 8}), one.values, Tensor::zeros({2, 8})}, 0), {2, 2});
  EXPECT_TRUE(same_bits(empty.forward(x, {.mask = Mask::causal(), .before = one}, Context()),
                        plain.forward(x, {.mask = Mask::causal(), .before = filled}, Context())));
}

TEST(SegmentMemory, KeepsTheLastTokensOfEachSequence) {
  SegmentMemory memory(2);
  const auto states = [](std::initializer_list<float> values) {
    return std::vector<Tensor>(2, Tensor::from<float>(values, {static_cast<std::int64_t>(values.size()), 1}));
  };
  memory.append(states({1, 2, 3}), {1, 2});
  ASSERT_EQ(memory.layers().size(), 1U);
  EXPECT_EQ(memory.layers()[0].values.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  memory.append(states({4, 5}), {2, 0});
  EXPECT_EQ(memory.layers()[0].values.to_vector<float>(), (std::vector<float>{4, 5, 2, 3}));
  memory.append(states({6, 7}), {1, 1});
  EXPECT_EQ(memory.layers()[0].values.to_vector<float>(), (std::vector<float>{5, 6, 3, 7}));
  EXPECT_EQ(memory.layers()[0].offsets, Offsets({2, 2}));
}

// Positions that need more of a cache than its keys in place: all keys as a tensor, or how many there are.
TEST(MultiHeadAttention, RelativePositionsOfACacheHaveTheBitsOfTheFullPass) {
  const NoGrad no_grad;
  for (const AttentionConfig& config :
       {AttentionConfig{.heads = 2, .relative_reach = 3, .relative_queries = true},
        AttentionConfig{.heads = 2, .relative_reach = 3}, AttentionConfig{.heads = 2, .transformer_xl = true}}) {
    MultiHeadAttention attention(8, config);
    initialize(attention, 2);
    const Tensor x = noise("x", {300, 8});
    const Tensor full = attention.forward(Packed(x, {200, 100}), {.mask = Mask::causal()}, Context());
    KeyValueCache cache(2, 4, 4);
    const AttentionCall call{.mask = Mask::causal(), .cache = &cache};
    for (std::int64_t at = 0; at < 200; at += 50) {
      const auto rows = [&](const Tensor& y) {
        return concat(std::vector{y.detached_slice(0, at, at + 50), y.detached_slice(0, 200 + at / 2, 225 + at / 2)},
                      0);
      };
      EXPECT_TRUE(same_bits(attention.forward(Packed(rows(x), {50, 25}), call, Context()), rows(full))) << at;
    }
  }
}

TEST(MultiHeadAttention, WeightDropoutIsForTrainingAndRepeatsItself) {
  for (const bool fused : {true, false}) {
    MultiHeadAttention plain(8, {.heads = 2, .fused = fused}),
        dropping(8, {.heads = 2, .fused = fused, .dropout = 0.5});
    initialize(plain, 4);
    initialize(dropping, 4);
    const Packed x(noise("x", {40, 8}), {15, 25});
    const Tensor clean = plain.forward(x, {}, Context());
    EXPECT_TRUE(same_bits(dropping.forward(x, {}, Context()), clean));
    const Tensor step_1 = dropping.forward(x, {}, Context::training(1, 1));
    EXPECT_FALSE(same_bits(step_1, clean));
    EXPECT_FALSE(same_bits(dropping.forward(x, {}, Context::training(1, 2)), step_1));
    for (const int threads : {1, 3}) {
      ThreadLimit limit(threads);
      EXPECT_TRUE(same_bits(dropping.forward(x, {}, Context::training(1, 1)), step_1));
    }
    // The first sequence drops the same weights whatever follows it.
    const Packed alone(x.values.detached_slice(0, 0, 15).detached_clone(), {15});
    EXPECT_TRUE(same_bits(dropping.forward(alone, {}, Context::training(1, 1)), step_1.detached_slice(0, 0, 15)));
  }
}

// Over many keys of equal weight and value 1 the output is the share of weights kept, over 1 - p.
TEST(MultiHeadAttention, WeightDropoutKeepsTheMeanAndTheShare) {
  constexpr std::int64_t kKeys = 4000;
  const Tensor q = Tensor::zeros({1, 3, 4}), k = noise("k", {kKeys, 3, 4}), v = Tensor::full({kKeys, 3, 1}, 1);
  const Tensor out =
      attend({.q = q, .k = k, .v = v, .queries = {1}, .keys = {kKeys}, .dropout = AttentionDropout{0.3, {1, 2}}});
  for (std::int64_t h = 0; h < 3; ++h) EXPECT_NEAR(out.at({0, h, 0}), 1, 0.05);
  EXPECT_NE(out.at({0, 0, 0}), out.at({0, 1, 0}));
  EXPECT_THROW(attend({.q = q, .k = k, .v = v, .queries = {1}, .keys = {kKeys}, .dropout = AttentionDropout{1, {}}}),
               Error);
}

TEST(MultiHeadAttention, AttentionDropoutOfABlockHasTheRightGradients) {
  Stack encoder(
      {.block = {
           .hidden_size = 8, .attention = {.heads = 2, .dropout = 0.4}, .feed_forward = {.intermediate_size = 12}}});
  initialize(encoder, 5);
  convert_parameters(encoder, DType::f64);
  const Packed x(noise("x", {7, 8}, DType::f64), {3, 4});
  const Tensor target = noise("target", {7, 8}, DType::f64);
  expect_gradients(encoder,
                   [&] { return mean_squared_error(encoder.forward(x, {}, Context::training(1, 3)), target); });
}

StackConfig stack(std::int64_t layers) {
  return {.block = {.hidden_size = 8, .attention = {.heads = 2}, .feed_forward = {.intermediate_size = 12}},
          .layers = layers};
}

StackConfig decoder_stack(std::int64_t layers) {
  StackConfig config = stack(layers);
  config.block.cross = true;
  return config;
}

TEST(Stack, SequencesThatJoinWithAMemoryHaveTheBitsOfTheWhole) {
  NoGrad no_grad;
  Stack decoder(decoder_stack(2));
  initialize(decoder, 6);
  const Packed memory(noise("memory", {80, 8}), {3, 77}), target(noise("target", {8, 8}), {4, 4});
  const AttentionCall causal{.mask = Mask::causal()};
  const Memory read{.tokens = memory};
  const Tensor whole = decoder.forward(target, {.attention = causal, .memory = &read}, Context());
  const auto row = [](const Tensor& x, std::int64_t i) { return x.detached_slice(0, i, i + 1).detached_contiguous(); };
  const auto step = [&](std::vector<std::int64_t> rows, DecodeState& state) {
    const Tensor x = take_rows(target.values, Tensor::from(rows, {std::ssize(rows)}));
    return decoder.forward(Packed(x, Offsets(std::vector<std::int64_t>(rows.size(), 1))),
                           {.attention = causal, .state = &state}, Context());
  };
  DecodeState state = decoder.start();
  decoder.join(Packed(memory.sequence(1), {77}), state, Context());
  EXPECT_TRUE(same_bits(step({4}, state), row(whole, 4)));
  decoder.join(Packed(memory.sequence(0), {3}), state, Context());
  const Tensor together = step({5, 0}, state);
  EXPECT_TRUE(same_bits(row(together, 0), row(whole, 5)));
  EXPECT_TRUE(same_bits(row(together, 1), row(whole, 0)));
  // Forks share the pages of their memory.
  const std::int64_t before = state.memories().front().bytes();
  state.reorder(std::vector<std::int64_t>{1, 0, 0, 0});
  EXPECT_EQ(state.memories().front().bytes(), before);
  const Tensor beams = step({1, 6, 6, 7}, state);
  EXPECT_TRUE(same_bits(row(beams, 0), row(whole, 1)));
  EXPECT_TRUE(same_bits(row(beams, 1), row(whole, 6)));
  EXPECT_TRUE(same_bits(row(beams, 2), row(whole, 6)));
  EXPECT_FALSE(same_bits(row(beams, 3), row(whole, 6)));
  DecodeState other = decoder.start();
  other.add_fork(state, 2, 2);
  EXPECT_EQ(other.memory_length(0), 77);
  EXPECT_TRUE(same_bits(step({6}, other), row(whole, 6)));
}

TEST(Stack, AMemoryIsNeededOnceInAStateOrOutside) {
  NoGrad no_grad;
  Stack decoder(decoder_stack(1)), plain(stack(1));
  const Packed x(noise("x", {2, 8}), {2});
  const Memory read{.tokens = x};
  DecodeState state = decoder.start(), none = plain.start();
  EXPECT_THROW(decoder.forward(x, {.state = &state}, Context()), Error);  // nobody joined
  state.add_sequences(1);
  EXPECT_THROW(decoder.forward(x, {.state = &state}, Context()), Error);  // without a memory
  EXPECT_THROW(decoder.forward(x, {}, Context()), Error);
  EXPECT_THROW(plain.forward(x, {.memory = &read}, Context()), Error);
  EXPECT_THROW(plain.join(x, none, Context()), Error);
  DecodeState joined = decoder.start();
  decoder.join(x, joined, Context());
  EXPECT_THROW(decoder.forward(x, {.memory = &read, .state = &joined}, Context()), Error);
}

TEST(Stack, TiedStacksAreCountedAndSavedOnceAndTrainTogether) {
  struct Pair : Module {
    Stack encoder{stack(2)}, decoder{decoder_stack(2)};
    void visit(Visitor& visitor) const override {
      visitor.child("encoder", encoder);
      visitor.child("decoder", decoder);
    }
  } apart, shared;
  tie(shared.encoder, shared.decoder);
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), count_parameters(apart.encoder));
  const TensorMap saved = state(shared);
  EXPECT_TRUE(saved.contains("encoder.layer.0.attention.output.weight"));
  EXPECT_FALSE(saved.contains("decoder.layer.0.attention.output.weight"));
  EXPECT_TRUE(saved.contains("decoder.layer.0.cross_attention.output.weight"));

  initialize(shared, 7);
  convert_parameters(shared, DType::f64);  // stay tied
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), count_parameters(apart.encoder));
  const Packed source(noise("source", {5, 8}, DType::f64), {3, 2}), target(noise("x", {4, 8}, DType::f64), {3, 1});
  const Tensor answers = noise("answers", {4, 8}, DType::f64);
  expect_gradients(shared, [&] {
    const Memory memory{.tokens = Packed(shared.encoder.forward(source, {}, Context()), source.offsets)};
    const StackCall call{.attention = {.mask = Mask::causal()}, .memory = &memory};
    return mean_squared_error(shared.decoder.forward(target, call, Context()), answers);
  });
}

TEST(Module, TyingRefusesWhatDoesNotFit) {
  Linear a(3, 4), wider(3, 5);
  Embedding table(4, 3);
  EXPECT_THROW(tie(a, wider), Error);
  EXPECT_EQ(tie(table, a), 1u);  // logits by the table: the weight only
  EXPECT_EQ(named_parameters(a)[0].parameter->storage(), table.weight.parameter().storage());
  named_parameters(a)[0].parameter->mutable_data<float>()[0] = 5;
  EXPECT_EQ(table.weight.parameter().at({0, 0}), 5);
  OneHot nothing(3);
  EXPECT_THROW(tie(nothing, a), Error);
}

}  // namespace
}  // namespace heed

#include "heed/nn/attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/nn/encoder_decoder.h"
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

TEST(EncoderDecoder, AMemoryProjectedOnceGivesTheSameBitsAtEveryStep) {
  NoGrad no_grad;
  EncoderDecoder model({.source_vocabulary = 9, .target_vocabulary = 9, .encoder = stack(2), .decoder = stack(2)});
  initialize(model, 6);
  const Packed source(Tensor::from<std::int64_t>({1, 2, 3, 4, 5, 6, 7}, {7}), {3, 4});
  const Packed memory = model.encode(source, Context());
  const Memory projected = model.project(memory);
  DecodeState state = model.start(), state_2 = model.start();
  for (std::int64_t step = 0; step < 4; ++step) {
    const Packed token(Tensor::from<std::int64_t>({step + 1, step + 2}, {2}), {1, 1});
    const Tensor expected = model.decode(token, {memory}, Context(), &state);
    EXPECT_TRUE(same_bits(model.decode(token, projected, Context(), &state_2), expected)) << step;
  }
  // The tokens themselves are not read again.
  Memory only_projected = projected;
  only_projected.tokens = Packed();
  const Packed token(Tensor::from<std::int64_t>({1, 1}, {2}), {1, 1});
  EXPECT_TRUE(same_bits(model.decode(token, only_projected, Context()), model.decode(token, {memory}, Context())));
  only_projected.projected.pop_back();
  EXPECT_THROW(model.decode(token, only_projected, Context()), Error);
}

TEST(EncoderDecoder, SharedLayersAreCountedAndSavedOnceAndTrainTogether) {
  EncoderDecoderConfig config{.source_vocabulary = 9, .target_vocabulary = 9, .encoder = stack(2), .decoder = stack(2)};
  config.share_embeddings = true;
  EncoderDecoder apart(config);
  config.share_layers = true;
  EncoderDecoder shared(config);
  Stack encoder(stack(2));
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), count_parameters(encoder));
  const TensorMap saved = state(shared);
  EXPECT_TRUE(saved.contains("encoder.layer.0.attention.output.weight"));
  EXPECT_FALSE(saved.contains("decoder.layer.0.attention.output.weight"));
  EXPECT_TRUE(saved.contains("decoder.layer.0.cross_attention.output.weight"));

  initialize(shared, 7);
  convert_parameters(shared, DType::f64);  // stay tied
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), count_parameters(encoder));
  const Packed source(Tensor::from<std::int64_t>({1, 2, 3, 4, 5}, {5}), {3, 2});
  const Packed target(Tensor::from<std::int64_t>({6, 1, 2, 6}, {4}), {3, 1});
  const Tensor answers = Tensor::from<std::int64_t>({1, 2, 0, 4}, {4});
  expect_gradients(shared, [&] {
    return cross_entropy(shared.decode(target, {shared.encode(source, Context())}, Context()), answers);
  });
}

TEST(EncoderDecoder, TyingRefusesWhatDoesNotFit) {
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

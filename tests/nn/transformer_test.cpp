#include "heed/nn/transformer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/loss.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"
#include "heed/train/optimizer.h"
#include "nn/gradient_check.h"

namespace heed {
namespace {

using testing::expect_gradients, testing::noise;

BlockConfig small_block(bool pre_norm) {
  return {.width = 8, .heads = 2, .inner = 12, .pre_norm = pre_norm};
}

TEST(Transformer, EncoderGradientsMatchFiniteDifferences) {
  for (bool pre_norm : {true, false}) {
    for (bool gated : {true, false}) {
      BlockConfig block = small_block(pre_norm);
      block.gated = gated;
      block.key_heads = gated ? 1 : 0;
      block.norm = gated ? NormKind::rms : NormKind::layer;
      Encoder encoder({.block = block, .layers = 2});
      initialize(encoder, 3);
      convert_parameters(encoder, DType::f64);
      const Packed x(noise("x", {6, 8}, DType::f64), {2, 4});
      const Tensor weights = noise("upstream", {6, 8}, DType::f64);
      expect_gradients(encoder, [&] { return mean_squared_error(encoder.forward(x, {}, Context()), weights); });
    }
  }
}

TEST(Transformer, EncoderDecoderGradientsMatchFiniteDifferences) {
  EncoderDecoder model({.source_vocabulary = 7,
                        .target_vocabulary = 7,
                        .encoder = {.block = small_block(false)},
                        .decoder = {.block = small_block(false)},
                        .share_embeddings = true});
  initialize(model, 4);
  convert_parameters(model, DType::f64);
  const Packed source(Tensor::from<std::int64_t>({1, 2, 3, 4, 5}, {5}), {3, 2});
  const Packed target(Tensor::from<std::int64_t>({6, 1, 2, 6}, {4}), {3, 1});
  const Tensor answers = Tensor::from<std::int64_t>({1, 2, 0, 4}, {4});
  expect_gradients(
      model, [&] { return cross_entropy(model.decode(target, model.encode(source, Context()), Context()), answers); });
}

TEST(Transformer, ADecoderDoesNotSeeTheFuture) {
  Decoder decoder({.block = small_block(true), .layers = 2});
  initialize(decoder, 6);
  Tensor x = noise("x", {9, 8});
  const Tensor before = decoder.forward(Packed(x, {9}), Context());
  Tensor changed = x.clone();
  for (std::int64_t i = 5 * 8; i < 9 * 8; ++i) changed.mutable_data<float>()[i] += 1;
  const Tensor after = decoder.forward(Packed(changed, {9}), Context());
  EXPECT_TRUE(same_bits(before.sliced(0, 0, 5), after.sliced(0, 0, 5)));
  EXPECT_FALSE(same_bits(before.sliced(0, 5, 6), after.sliced(0, 5, 6)));
}

TEST(Transformer, AProbeSeesSummariesAndChangesNothing) {
  struct Seen : Probe {
    void on_tensor(std::string_view name, const Tensor& value) override { tensors[std::string(name)] = value; }
    std::map<std::string, Tensor> tensors;
  } probe;
  Encoder encoder({.block = small_block(false), .layers = 2});
  initialize(encoder, 8);
  const Packed x(noise("x", {12, 8}), {5, 7});
  const Tensor plain = encoder.forward(x, {}, Context()), watched = encoder.forward(x, {}, Context::watched_by(probe));
  EXPECT_TRUE(same_bits(plain, watched));
  ASSERT_TRUE(probe.tensors.contains("layer.1.attention.entropy"));
  EXPECT_EQ(probe.tensors["layer.1.attention.entropy"].shape(), Shape({12, 2}));
  EXPECT_EQ(probe.tensors["layer.0.attention.link_keys"].shape(), Shape({12, 2, 8}));
  for (float entropy : probe.tensors["layer.1.attention.entropy"].to_vector<float>()) {
    EXPECT_GE(entropy, 0);
    EXPECT_LE(entropy, std::log(7.0) + 1e-5);
  }
}

TEST(Transformer, LearnsToReverse) {
  EncoderDecoder model({.source_vocabulary = 8,
                        .target_vocabulary = 8,
                        .encoder = {.block = {.width = 32, .heads = 4}},
                        .decoder = {.block = {.width = 32, .heads = 4}},
                        .share_embeddings = true});
  initialize(model, 9);
  auto optimizer = make_adam({{parameters(model)}});
  double loss_value = 0;
  for (std::uint64_t step = 0; step < 150; ++step) {
    std::vector<std::int64_t> source, target, answers, lengths;
    for (std::uint64_t row = 0; row < 16; ++row) {
      Sequence draw{1, stream_id(step, row)};
      const std::uint64_t length = 2 + draw.uniform_integer(3);
      std::vector<std::int64_t> word;
      for (std::uint64_t i = 0; i < length; ++i) word.push_back(1 + static_cast<std::int64_t>(draw.uniform_integer(7)));
      source.insert(source.end(), word.begin(), word.end());
      answers.insert(answers.end(), word.rbegin(), word.rend());
      target.push_back(0);
      target.insert(target.end(), word.rbegin(), word.rend() - 1);
      lengths.push_back(static_cast<std::int64_t>(length));
    }
    const Offsets offsets{std::span<const std::int64_t>(lengths)};
    const auto count = static_cast<std::int64_t>(source.size());
    const Context context = Context::training(1, step);
    const Packed memory = model.encode(Packed(Tensor::from(source, {count}), offsets), context);
    const Tensor logits = model.decode(Packed(Tensor::from(target, {count}), offsets), memory, context);
    const Tensor loss = cross_entropy(logits, Tensor::from(answers, {count}));
    loss_value = loss.item();
    backward(loss);
    optimizer->step(5e-3);
    optimizer->clear_gradients();
  }
  EXPECT_LT(loss_value, 0.5);  // guessing: log 7 = 1.95
}

TEST(Transformer, SharedLayersAreOneSetOfParameters) {
  Encoder apart({.block = small_block(true), .layers = 3}),
      shared({.block = small_block(true), .layers = 3, .shared_layers = true});
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), 2 * (count_parameters(apart) - 16) / 3);
}

TEST(Transformer, ContradictionsAreRefused) {
  EXPECT_THROW(MultiHeadAttention({.width = 10, .heads = 3}), Error);
  EXPECT_THROW(MultiHeadAttention({.width = 12, .heads = 4, .key_heads = 3}), Error);
  EXPECT_THROW(Encoder({.block = small_block(true), .layers = 0}), Error);
  Block block(small_block(true));
  const Packed x(Tensor::zeros({2, 8}), {2});
  const Memory memory{x};
  EXPECT_THROW(block.forward(x, {}, Context(), &memory), Error);
}

}  // namespace
}  // namespace heed

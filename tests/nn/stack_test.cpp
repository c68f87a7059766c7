#include "heed/nn/stack.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/nn/attention_record.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/loss.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"
#include "nn/gradient_check.h"
#include "support/error_of.h"

namespace heed {
namespace {

using testing::expect_gradients, testing::noise;

BlockConfig small_block(NormPlace place = NormPlace::pre) {
  return {.hidden_size = 8, .attention = {.heads = 2}, .feed_forward = {.intermediate_size = 12}, .norm_place = place};
}

void expect_stack_gradients(const StackConfig& config, const AttentionCall& call = {}) {
  Stack stack(config);
  initialize(stack, 3);
  convert_parameters(stack, DType::f64);
  const Packed x(noise("x", {6, 8}, DType::f64), {2, 4});
  const Tensor target = noise("upstream", {6, 8}, DType::f64);
  expect_gradients(stack, [&] { return mean_squared_error(stack.forward(x, {.attention = call}, Context()), target); });
}

TEST(Stack, GradientsMatchFiniteDifferences) {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post, NormPlace::sandwich}) {
    for (const bool gated : {true, false}) {
      BlockConfig block = small_block(place);
      block.feed_forward.gated = gated;
      block.attention.key_heads = gated ? 1 : 0;
      block.norm.kind = gated ? NormKind::rms : NormKind::layer;
      expect_stack_gradients({.block = block, .layers = 2});
    }
  }
}

// What decoders bring: Llama's rotation (of a whole head or a part), Qwen's norms and biases, heads wider than
// hidden size / heads, GPT-NeoX's parallel parts.
TEST(Stack, GradientsOfDecoderBlocksMatchFiniteDifferences) {
  BlockConfig block = small_block();
  block.norm.kind = NormKind::rms;
  block.feed_forward = {.intermediate_size = 12, .activation = Activation::silu, .gated = true, .bias = false};
  block.attention = {.heads = 2,
                     .key_heads = 1,
                     .head_dim = 6,
                     .output_bias = false,
                     .query_key_norm = NormConfig{.kind = NormKind::rms},
                     .rotary = RotaryOptions{.base = 100},
                     .scale = 0.3};
  expect_stack_gradients({.block = block, .layers = 2}, {.mask = Mask::causal()});

  block = small_block();
  block.parallel = true;
  block.attention.rotary = RotaryOptions{.width = 2};
  expect_stack_gradients({.block = block, .layers = 2}, {.mask = Mask::causal()});

  block = small_block(NormPlace::sandwich);
  block.attention.fused = false;
  block.attention.key_bias = false;
  expect_stack_gradients({.block = block, .layers = 4, .groups = 2, .blocks_per_group = 2});
}

// The formula of each kind of block, from its parts.
TEST(Stack, BlocksAreWhatTheirFormulasSay) {
  const NoGrad no_grad;
  const Packed x(noise("x", {6, 8}), {2, 4});
  const auto part = [](Module& block, const std::string& name) {
    TensorMap found;
    for (const auto& [full, parameter] : named_parameters(block)) {
      if (full.starts_with(name + ".")) found.emplace(full.substr(name.size() + 1), *parameter);
    }
    return found;
  };
  for (const bool parallel : {true, false}) {
    BlockConfig config = small_block(parallel ? NormPlace::pre : NormPlace::sandwich);
    config.parallel = parallel;
    Block block(config);
    initialize(block, 2);
    for (const auto& [name, parameter] : named_parameters(block)) {
      parameter->copy_from(add(parameter->detach(), scale(noise(name.c_str(), parameter->shape()), 0.2)));
    }
    MultiHeadAttention attention(8, config.attention);
    FeedForward feed_forward(8, config.feed_forward);
    Norm first(8), second(8), first_after(8), second_after(8);
    load_state(attention, part(block, "attention"));
    load_state(feed_forward, part(block, "feed_forward"));
    load_state(first, part(block, "attention_norm"));
    load_state(second, part(block, "feed_forward_norm"));
    const auto attend_to = [&](const Tensor& y) { return attention.forward(Packed(y, x.offsets), {}, Context()); };
    const auto feed = [&](const Tensor& y) { return feed_forward.forward(y, Context()); };
    Tensor expected;
    if (parallel) {
      expected = add(add(x.values, attend_to(first.forward(x.values))), feed(second.forward(x.values)));
    } else {
      load_state(first_after, part(block, "attention_norm_after"));
      load_state(second_after, part(block, "feed_forward_norm_after"));
      const Tensor y = add(x.values, first_after.forward(attend_to(first.forward(x.values))));
      expected = add(y, second_after.forward(feed(second.forward(y))));
    }
    const Tensor found = block.forward(x, {}, Context());
    for (std::int64_t i = 0; i < found.count(); ++i) {
      ASSERT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-5) << parallel << " " << i;
    }
  }
}

TEST(Stack, GroupsShareBlocksInOrder) {
  const NoGrad no_grad;
  Stack stack({.block = small_block(NormPlace::post), .layers = 4, .groups = 2, .blocks_per_group = 2});
  initialize(stack, 4);
  const TensorMap weights = state(stack);
  std::vector<std::unique_ptr<Block>> blocks;
  for (int i = 0; i < 4; ++i) {
    TensorMap own;
    const std::string prefix = "layer." + std::to_string(i) + ".";
    for (const auto& [name, tensor] : weights) {
      if (name.starts_with(prefix)) own.emplace(name.substr(prefix.size()), tensor);
    }
    blocks.push_back(std::make_unique<Block>(small_block(NormPlace::post)));
    load_state(*blocks.back(), own);
  }
  const Packed x(noise("x", {6, 8}), {2, 4});
  Tensor expected = x.values;
  std::vector<Tensor> states = {expected};
  for (const int block : {0, 1, 0, 1, 2, 3, 2, 3}) {
    expected = blocks[static_cast<std::size_t>(block)]->forward(Packed(expected, x.offsets), {}, Context());
    if (block % 2 == 1) states.push_back(expected);
  }
  std::vector<Tensor> hidden;
  EXPECT_TRUE(same_bits(stack.forward(x, {.hidden = &hidden}, Context()), expected));
  ASSERT_EQ(hidden.size(), states.size());
  for (std::size_t i = 0; i < states.size(); ++i) EXPECT_TRUE(same_bits(hidden[i], states[i])) << i;
}

// Recomputed blocks give the same gradients, also those of a memory that cross-attention reads.
TEST(Stack, RecomputingChangesNoGradient) {
  BlockConfig block = small_block();
  block.cross = true;
  Stack stack({.block = block, .layers = 2});
  initialize(stack, 7);
  const auto gradients = [&](bool recompute) {
    Tensor x = noise("x", {6, 8}).set_requires_grad(), read = noise("memory", {5, 8}).set_requires_grad();
    {
      const Memory memory{Packed(read, {2, 3})};
      const Context context = Context::training(1, 2).recomputing(recompute);
      const Tensor y = stack.forward(Packed(x, {2, 4}), {.memory = &memory}, context);
      backward(mean_squared_error(y, noise("target", {6, 8})));
    }
    std::vector<Tensor> found = {x.grad(), read.grad()};
    for (const auto& [name, parameter] : named_parameters(stack)) {
      found.push_back(parameter->grad().detached_clone());
      parameter->clear_grad();
    }
    return found;
  };
  const auto kept = gradients(false), again = gradients(true);
  // The gradients of the memory are those of its readers, added in another order.
  for (std::int64_t i = 0; i < kept[1].count(); ++i) {
    EXPECT_NEAR(kept[1].data<float>()[i], again[1].data<float>()[i], 1e-7) << i;
  }
  EXPECT_GT(std::abs(kept[1].data<float>()[0]), 1e-6);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(i == 1 || same_bits(kept[i], again[i])) << i;
}

TEST(Stack, StopsBetweenLayers) {
  const Stack stack({.block = small_block(), .layers = 3});
  const Packed x(noise("x", {6, 8}), {2, 4});
  const StopSource source;
  const Context context = Context().stopping(source.token());
  EXPECT_EQ(stack.forward(x, {}, context).shape(), Shape({6, 8}));
  struct StopAfterTheFirst : Probe {
    explicit StopAfterTheFirst(const StopSource& stop) : source(stop) {}
    void on_tensor(const Tap& tap, const Tensor&) override {
      if (tap.kind != Tap::Kind::hidden) return;
      ++layers;
      source.request_stop();
    }
    const StopSource& source;
    int layers = 0;
  } probe(source);
  const std::string message = test::error_of(
      ErrorKind::cancelled, [&] { stack.forward(x, {}, Context::watched_by(probe).stopping(source.token())); });
  EXPECT_EQ(probe.layers, 1);
}

TEST(Stack, OperationsAreThoseOfItsProducts) {
  const StackConfig config{.block = small_block(), .layers = 3};
  // q, k, v and output 8 x 8, up and down 8 x 12, for each token; q k^T and a v for each pair, in two heads of 4.
  EXPECT_EQ(config.operations({2, 4}), 3 * (2 * 6 * (4 * 64 + 2 * 96) + 2 * 2 * (4 + 16) * 8));
}

TEST(Stack, OperationsOfCrossAttentionCount) {
  StackConfig config{.block = small_block()};
  const double alone = config.operations({2, 4});
  config.block.cross = true;
  EXPECT_EQ(config.operations({2, 4}) - alone, 2 * 6 * 4 * 64 + 2 * 2 * (4 + 16) * 8);
}

TEST(Stack, ADecoderDoesNotSeeTheFuture) {
  Stack decoder({.block = small_block(), .layers = 2});
  initialize(decoder, 6);
  const StackCall causal{.attention = {.mask = Mask::causal()}};
  Tensor x = noise("x", {9, 8});
  const Tensor before = decoder.forward(Packed(x, {9}), causal, Context());
  Tensor changed = x.detached_clone();
  for (std::int64_t i = 5 * 8; i < 9 * 8; ++i) changed.mutable_data<float>()[i] += 1;
  const Tensor after = decoder.forward(Packed(changed, {9}), causal, Context());
  EXPECT_TRUE(same_bits(before.detached_slice(0, 0, 5), after.detached_slice(0, 0, 5)));
  EXPECT_FALSE(same_bits(before.detached_slice(0, 5, 6), after.detached_slice(0, 5, 6)));
}

TEST(Stack, AProbeSeesSummariesAndChangesNothing) {
  AttentionRecord record;
  Stack encoder({.block = small_block(NormPlace::post), .layers = 2});
  initialize(encoder, 8);
  const Packed x(noise("x", {12, 8}), {5, 7});
  const Tensor plain = encoder.forward(x, {}, Context()), watched = encoder.forward(x, {}, Context::watched_by(record));
  EXPECT_TRUE(same_bits(plain, watched));
  ASSERT_EQ(record.layers().size(), 2u);
  EXPECT_EQ(record.layers()[1].entropy.shape(), Shape({12, 2}));
  EXPECT_EQ(record.layers()[0].link_keys.shape(), Shape({12, 2, 8}));
  for (float entropy : record.layers()[1].entropy.to_vector<float>()) {
    EXPECT_GE(entropy, 0);
    EXPECT_LE(entropy, std::log(7.0) + 1e-5);
  }
}

TEST(Stack, SharedLayersAreOneSetOfParameters) {
  Stack apart({.block = small_block(), .layers = 3}), shared({.block = small_block(), .layers = 3, .groups = 1});
  EXPECT_EQ(count_parameters(apart) - count_parameters(shared), 2 * (count_parameters(apart) - 16) / 3);
}

TEST(Stack, ContradictionsAreRefused) {
  EXPECT_THROW(MultiHeadAttention(10, {.heads = 3}), Error);
  EXPECT_THROW(MultiHeadAttention(12, {.heads = 4, .key_heads = 3}), Error);
  EXPECT_THROW(MultiHeadAttention(12, {.heads = 4, .key_bias = false}), Error);  // fused
  EXPECT_THROW(Stack({.block = small_block(), .layers = 0}), Error);
  EXPECT_THROW(Stack({.block = small_block(), .layers = 2, .groups = 3}), Error);
  BlockConfig parallel = small_block(NormPlace::post);
  parallel.parallel = true;
  EXPECT_THROW((Block(parallel)), Error);
  Block block(small_block());
  const Packed x(Tensor::zeros({2, 8}), {2});
  const Memory memory{x};
  EXPECT_THROW(block.forward(x, {}, Context(), &memory), Error);
}

}  // namespace
}  // namespace heed

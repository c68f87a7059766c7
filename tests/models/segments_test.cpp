#include "heed/models/segments.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/nn/module.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kMemory = 4, kLayers = 2;

Model small_model(bool same_length) {
  const Json config = {{"model_type", "transfo-xl"},
                       {"vocab_size", 40},
                       {"cutoffs", Json::array()},
                       {"div_val", 1},
                       {"d_model", 8},
                       {"d_embed", 8},
                       {"n_head", 2},
                       {"d_head", 4},
                       {"d_inner", 12},
                       {"n_layer", kLayers},
                       {"mem_len", kMemory},
                       {"same_length", same_length},
                       {"init_std", 0.5},
                       {"dropout", 0.1}};
  Model model(parse_model_config(config, "config.json"), HeadKind::causal_lm);
  initialize(model, 3);
  return model;
}

// 0 1 2 ...: every token of its own.
Inputs texts(const Ids& lengths, const Ids& remembered = {}) {
  Ids ids;
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = 0; i < length; ++i) ids.push_back(i);
  }
  return {.ids = Packed(Tensor::from(ids, {std::ssize(ids)}), Offsets(lengths)), .remembered = remembered};
}

Tensor rows(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return x.detached_slice(0, begin, end).detached_contiguous();
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i]) - y[i]));
  return largest;
}

TEST(Segments, AMemoryThatReachesFarEnoughIsTheWholeText) {
  const NoGrad no_grad;
  const Model model = small_model(true);
  const Tensor whole = model.encode(texts({20}), Context());
  // What the last layer remembers has seen kMemory - 1 tokens more.
  constexpr std::int64_t kEnough = kLayers * (kMemory - 1);
  const Inputs end = {.ids = Packed(rows(texts({20}).ids.values, 12 - kEnough, 20), {8 + kEnough}),
                      .remembered = {kEnough}};
  const Tensor segment = model.encode(end, Context());
  EXPECT_LT(largest_difference(rows(segment, kEnough, 8 + kEnough), rows(whole, 12, 20)), 1e-5);
  // A shorter one is not.
  const Inputs less = {.ids = Packed(rows(texts({20}).ids.values, 11, 20), {9}), .remembered = {1}};
  EXPECT_GT(largest_difference(rows(model.encode(less, Context()), 1, 9), rows(whole, 12, 20)), 1e-2);
}

TEST(Segments, AreReadOneAfterTheOther) {
  const NoGrad no_grad;
  const Model model = small_model(false);
  const Recurs& recurs = *model.backbone()->recurs();
  SegmentMemory memory = recurs.remember();
  const Inputs both = texts({11}, {6});
  const Tensor values = model.encode(both, Context());
  const Inputs first = {.ids = Packed(rows(both.ids.values, 0, 6), {6})},
               second = {.ids = Packed(rows(both.ids.values, 6, 11), {5})};
  EXPECT_TRUE(same_bits(recurs.read(first, memory, Context()), rows(values, 0, 6)));
  EXPECT_TRUE(same_bits(recurs.read(second, memory, Context()), rows(values, 6, 11)));
  // The second segment sees the memory alone of the first, here 4 of its 6 tokens.
  EXPECT_GT(largest_difference(rows(model.encode(texts({11}), Context()), 6, 11), rows(values, 6, 11)), 1e-2);
}

TEST(Segments, HaveTheSameBitsAloneAndAmongOthers) {
  const NoGrad no_grad;
  const Model model = small_model(true);
  const Tensor all = model.encode(texts({9, 5, 12}, {4, 0, 7}), Context());
  EXPECT_TRUE(same_bits(rows(all, 0, 9), model.encode(texts({9}, {4}), Context())));
  EXPECT_TRUE(same_bits(rows(all, 9, 14), model.encode(texts({5}), Context())));
  EXPECT_TRUE(same_bits(rows(all, 14, 26), model.encode(texts({12}, {7}), Context())));
}

TEST(Segments, NoGradientsFlowThroughWhatIsRemembered) {
  const auto word_gradients = [](const Inputs& inputs) {
    Model model = small_model(true);
    backward(sum(slice(model.encode(inputs, Context()), 0, 6, 12)));
    std::vector<bool> found;
    const Tensor gradient = model.backbone()->words().weight.parameter().grad();
    for (std::int64_t i = 0; i < 12; ++i) {
      const auto row = rows(gradient, i, i + 1).to_vector<float>();
      found.push_back(std::ranges::any_of(row, [](float value) { return value != 0; }));
    }
    return found;
  };
  // Each of two layers looks 3 tokens back.
  EXPECT_EQ(word_gradients(texts({12})), std::vector<bool>(12, true));
  std::vector<bool> own(12, false);
  std::fill(own.begin() + 6, own.end(), true);
  EXPECT_EQ(word_gradients(texts({12}, {6})), own);
}

TEST(Segments, WhatDoesNotFitIsRefused) {
  const Model model = small_model(true);
  EXPECT_THROW(model.encode(texts({5, 5}, {1}), Context()), Error);
  EXPECT_THROW(model.encode(texts({5}, {6}), Context()), Error);
  EXPECT_THROW(model.encode(texts({5}, {-1}), Context()), Error);
  EXPECT_THROW(model.forward(texts({5}, {2}), Context()), Error);
}

}  // namespace
}  // namespace heed

// attend() and its gradients against PyTorch, f32, 1e-5.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "heed/attention/attend.h"
#include "heed/attention/positions.h"
#include "heed/attention/relative_terms.h"
#include "heed/attention/rotary.h"
#include "heed/ops/linear.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"
#include "support/torch.h"

namespace heed {
namespace {

using Lengths = std::vector<std::int64_t>;

struct Heads {
  std::int64_t query = 4, key = 4, width = 16, value_width = 16;
  std::int64_t key_width = 0;  // before a projection; 0: width
};

class TorchCases {
 public:
  using Build = std::function<void(AttentionInput&, const TensorMap&)>;

  // `more` are tensors that get gradients too; options are those of attention_torch.py.
  void add(const std::string& name, const Heads& heads, const Lengths& queries, const Lengths& keys,
           const Json& options = Json::object(), const TensorMap& more = {}, const Build& build = {}) {
    const Offsets query_offsets{std::span<const std::int64_t>(queries)},
        key_offsets{std::span<const std::int64_t>(keys)};
    TensorMap tensors = more;
    const std::int64_t key_width = heads.key_width == 0 ? heads.width : heads.key_width;
    tensors["q"] = f32("q", {query_offsets.tokens(), heads.query, heads.width});
    tensors["k"] = f32("k", {key_offsets.tokens(), heads.key, key_width});
    tensors["v"] = f32("v", {key_offsets.tokens(), heads.key, heads.value_width});
    test::TorchComparison result{.name = name, .tolerance = 1e-5, .found = {}, .question = {}};
    for (auto& [tensor_name, tensor] : tensors) {
      result.question["tensors"][tensor_name] = test::tensor_question(tensor);
      if (tensor_name != "mask") tensor.set_requires_grad();
    }
    AttentionInput input{.q = tensors["q"],
                         .k = tensors["k"],
                         .v = tensors["v"],
                         .queries = query_offsets,
                         .keys = key_offsets,
                         .mask = mask_of(options)};
    if (build) build(input, tensors);
    const Tensor y = attend(input);
    const Tensor upstream = f32("upstream", y.shape());
    backward(y, upstream);

    result.found["output"] = y.detach();
    for (const auto& [tensor_name, tensor] : tensors) {
      if (tensor_name != "mask") result.found[tensor_name] = tensor.grad();
    }
    result.question["query_lengths"] = queries;
    result.question["key_lengths"] = keys;
    result.question["upstream"] = test::numbers(upstream);
    result.question["options"] = options;
    // What PyTorch's own function can do, it does.
    result.question["options"]["torch_kernel"] = !build || tensors.contains("mask");
    comparisons.push_back(std::move(result));
  }

  static Tensor f32(const std::string& name, const Shape& shape, double scale = 1) {
    return testing::values(name, shape, scale).detached_to(DType::f32);
  }

  std::vector<test::TorchComparison> comparisons;

 private:
  static Mask mask_of(const Json& options) {
    Mask mask;
    if (options.contains("causal")) mask = mask & Mask::causal();
    if (options.contains("window")) mask = mask & Mask::window(options["window"][0], options["window"][1]);
    if (options.contains("visible_lengths")) mask = mask & Mask::lengths(options["visible_lengths"].get<Lengths>());
    return mask;
  }
};

const Lengths kRagged = {5, 1, 33, 12}, kLong = {150, 40};

TorchCases::Build add_term(const std::function<Term(const TensorMap&)>& make) {
  return [make](AttentionInput& input, const TensorMap& t) { input.terms.push_back(make(t)); };
}

TEST(AttentionTorch, MasksAndHeads) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  TorchCases cases;
  cases.add("plain", {}, kRagged, kRagged);
  cases.add("longer than a block", {2, 2, 64, 64}, kLong, kLong);
  cases.add("causal", {}, kRagged, kRagged, {{"causal", true}});
  cases.add("causal, longer than a block", {2, 2, 64, 64}, kLong, kLong, {{"causal", true}});
  cases.add("window", {}, kRagged, kRagged, {{"window", {3, 2}}});
  cases.add("padding", {}, kRagged, kRagged, {{"visible_lengths", {3, 1, 20, 12}}});
  cases.add("causal and padding", {}, kRagged, kRagged, {{"causal", true}, {"visible_lengths", {3, 1, 20, 12}}});
  cases.add("grouped heads", {6, 2, 16, 16}, kRagged, kRagged);
  cases.add("grouped heads, causal", {6, 2, 16, 16}, kRagged, kRagged, {{"causal", true}});
  cases.add("one key head", {6, 1, 16, 16}, kRagged, kRagged);
  cases.add("one key head, causal", {6, 1, 16, 16}, kRagged, kRagged, {{"causal", true}});
  cases.add("cross", {}, {3, 7, 20}, {9, 2, 35});
  cases.add("cross, grouped, padding", {4, 2, 16, 16}, {3, 7, 20}, {9, 2, 35}, {{"visible_lengths", {4, 2, 30}}});
  cases.add("last queries of a cache", {}, {1, 3}, {9, 35}, {{"causal", true}});
  cases.add("wide values", {3, 3, 7, 19}, kRagged, kRagged);
  cases.add("narrow values, cross", {3, 1, 19, 5}, {3, 7}, {9, 2});
  test::expect_torch_agrees("attention/attention_torch.py", cases.comparisons);
}

TEST(AttentionTorch, MaskTensors) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  TorchCases cases;
  Tensor allowed = testing::ids("mask", {4, 33, 33}, 2);
  Tensor hiding = TorchCases::f32("hiding", {33, 33});
  for (std::int64_t i = 0; i < 33; ++i) {  // every query sees the first key of its sequence: PyTorch has NaN for none
    for (std::int64_t h = 0; h < 4; ++h) allowed.mutable_data<std::int64_t>()[(h * 33 + i) * 33] = 1;
    for (std::int64_t j = 1; j < 33; j += 1 + i % 4) {
      hiding.mutable_data<float>()[i * 33 + j] = -std::numeric_limits<float>::infinity();
    }
  }
  const auto bias = add_term([](const TensorMap& t) { return bias_term(t.at("bias")); });
  cases.add("boolean mask a head", {}, kRagged, kRagged, {}, {{"mask", allowed}},
            add_term([](const TensorMap& t) { return mask_term(t.at("mask")); }));
  cases.add("additive mask", {}, kRagged, kRagged, {}, {{"bias", TorchCases::f32("bias", {33, 33})}}, bias);
  cases.add("additive mask a head", {}, kRagged, kRagged, {}, {{"bias", TorchCases::f32("bias", {4, 33, 33})}}, bias);
  cases.add("additive mask a sequence", {}, kRagged, kRagged, {{"causal", true}},
            {{"bias", TorchCases::f32("bias", {4, 1, 1, 33})}}, bias);
  cases.add("additive mask of -inf", {}, kRagged, kRagged, {}, {{"bias", hiding}}, bias);
  test::expect_torch_agrees("attention/attention_torch.py", cases.comparisons);
}

TEST(AttentionTorch, Scores) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  TorchCases cases;
  const TorchCases::Build additive = [](AttentionInput& input, const TensorMap& t) {
    input.q = linear(t.at("q"), Weight(t.at("query_weight")), t.at("query_bias"));
    input.k = linear(t.at("k"), Weight(t.at("key_weight")));
    input.additive = AdditiveScore{t.at("additive_weight")};
  };
  const TensorMap additive_weights = {{"query_weight", TorchCases::f32("query_weight", {9, 6}, 0.4)},
                                      {"query_bias", TorchCases::f32("query_bias", {9}, 0.4)},
                                      {"key_weight", TorchCases::f32("key_weight", {9, 7}, 0.4)},
                                      {"additive_weight", TorchCases::f32("additive_weight", {9})}};
  cases.add("additive", {1, 1, 6, 8, 7}, {3, 7, 20}, {9, 2, 35}, {}, additive_weights, additive);
  cases.add("additive, causal, grouped", {4, 2, 6, 8, 7}, kRagged, kRagged, {{"causal", true}}, additive_weights,
            additive);
  const TorchCases::Build bilinear = [](AttentionInput& input, const TensorMap& t) {
    input.k = linear(t.at("k"), Weight(t.at("bilinear_weight")));
    input.scale = 1;
  };
  const TensorMap bilinear_weights = {{"bilinear_weight", TorchCases::f32("bilinear_weight", {6, 7}, 0.15)}};
  cases.add("bilinear", {1, 1, 6, 8, 7}, {3, 7, 20}, {9, 2, 35}, {}, bilinear_weights, bilinear);
  cases.add("bilinear, heads", {3, 3, 6, 8, 7}, kRagged, kRagged, {}, bilinear_weights, bilinear);
  cases.add("dot product without scale", {2, 2, 4, 8}, kRagged, kRagged, {{"scale", 1}}, {},
            [](AttentionInput& input, const TensorMap&) { input.scale = 1; });
  for (const char* layout : {"half", "interleaved"}) {
    cases.add(std::string("rotary, ") + layout, {4, 2, 16, 16}, kRagged, kRagged,
              {{"causal", true}, {"rotary", layout}}, {}, [layout](AttentionInput& input, const TensorMap&) {
                const RotaryOptions options{.layout = std::string_view(layout) == "half" ? RotaryLayout::half
                                                                                         : RotaryLayout::interleaved};
                input.q = rotary(input.q, position_ids(input.queries), options);
                input.k = rotary(input.k, position_ids(input.keys), options);
              });
  }
  test::expect_torch_agrees("attention/attention_torch.py", cases.comparisons);
}

TEST(AttentionTorch, Terms) {
  if (!test::has_torch()) GTEST_SKIP() << test::kNoTorch;
  TorchCases cases;
  const auto soft_cap = add_term([](const TensorMap&) { return soft_cap_term(1.5); });
  cases.add("soft-cap", {}, kRagged, kRagged, {{"soft_cap", 1.5}}, {}, soft_cap);
  cases.add("soft-cap, causal, grouped", {4, 2, 16, 16}, kRagged, kRagged, {{"soft_cap", 1.5}, {"causal", true}}, {},
            soft_cap);
  const auto alibi = add_term([](const TensorMap&) { return alibi_term(); });
  const std::vector<double> slopes = {0.25, 0.0625, 0.015625, 0.00390625};  // 2^-2, 2^-4 ... for four heads
  cases.add("ALiBi", {}, kRagged, kRagged, {{"alibi_slopes", slopes}}, {}, alibi);
  cases.add("ALiBi, causal", {}, kLong, kLong, {{"alibi_slopes", slopes}, {"causal", true}}, {}, alibi);
  cases.add("ALiBi, last queries of a cache", {}, {1, 3}, {9, 35}, {{"alibi_slopes", slopes}, {"causal", true}}, {},
            alibi);
  for (bool bidirectional : {true, false}) {
    Json options = {{"bidirectional", bidirectional}, {"max_distance", 128}};
    if (!bidirectional) options["causal"] = true;
    cases.add(bidirectional ? "T5 buckets" : "T5 buckets, causal", {}, kLong, kLong, options,
              {{"bucket_table", TorchCases::f32("bucket_table", {32, 4})}},
              add_term([bidirectional](const TensorMap& t) {
                return bucket_bias_term(t.at("bucket_table"), {.bidirectional = bidirectional});
              }));
  }
  cases.add("relative keys", {}, kRagged, kRagged, {}, {{"relative_keys", TorchCases::f32("table", {9, 16})}},
            add_term([](const TensorMap& t) { return relative_key_term(t.at("q"), t.at("relative_keys")); }));
  cases.add("relative keys and queries", {}, kRagged, kRagged, {{"relative_queries", true}},
            {{"relative_keys", TorchCases::f32("table", {9, 16})}}, [](AttentionInput& input, const TensorMap& t) {
              input.terms = {relative_key_term(input.q, t.at("relative_keys")),
                             relative_query_term(input.k, t.at("relative_keys"))};
            });
  cases.add("soft-cap, then bias, then ALiBi", {}, kRagged, kRagged,
            {{"soft_cap", 1.5}, {"alibi_slopes", slopes}, {"window", {9, 4}}},
            {{"bias", TorchCases::f32("bias", {4, 33, 33})}}, [](AttentionInput& input, const TensorMap& t) {
              input.terms = {soft_cap_term(1.5), bias_term(t.at("bias")), alibi_term()};
            });
  test::expect_torch_agrees("attention/attention_torch.py", cases.comparisons);
}

}  // namespace
}  // namespace heed

// A small decoder with random weights that no file of src/ knows: rotary, two layers, one shared table of words.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "heed/attention/rotary.h"
#include "heed/models/config_reader.h"
#include "heed/models/model.h"
#include "heed/nn/module.h"

namespace heed::test {

inline constexpr std::int64_t kTinyVocabulary = 61, kTinyLongest = 200;

struct TinyOptions {
  std::int64_t longest = kTinyLongest;
  std::vector<std::int64_t> windows{};  // per layer, 0: none
  RopeScaling scaling{};
};

class TinyDecoder : public Backbone, public Decodes {
 public:
  explicit TinyDecoder(const TinyOptions& options = {})
      : words_(kTinyVocabulary, 24, Initializer::normal(1)), stack_(config(options)) {}

  DecodeState start() const override { return stack_.start(); }
  Tensor decode(const Inputs& inputs, DecodeState& state, const Context& context) const override {
    ++calls;
    tokens += inputs.ids.offsets.tokens();
    const Packed x(words_.forward(inputs.ids.values), inputs.ids.offsets);
    Tensor y = stack_.forward(x, {.attention = {.mask = Mask::causal()}, .state = &state}, context);
    if (broken) y = Tensor::full(y.shape(), NAN);
    if (broken_by >= 0) y = with_broken_rows(y, inputs.ids.values);
    return y;
  }
  Tensor finish(const Tensor& hidden) const override { return stack_.finish(hidden); }
  // Without a cache: what decode() must equal.
  Tensor full(const Packed& ids) const {
    return stack_.forward(Packed(words_.forward(ids.values), ids.offsets), {.attention = {.mask = Mask::causal()}},
                          Context());
  }
  const Decodes* decodes() const override { return this; }
  ParameterPlace place(std::string_view) const override { return {}; }
  double operations(const Offsets& offsets) const override { return stack_.config().operations(offsets); }
  const Embedding& words() const override { return words_; }
  void visit(Visitor& visitor) const override {
    visitor.child("words", words_);
    visitor.child("stack", stack_);
  }
  mutable int calls = 0;
  mutable std::int64_t tokens = 0;  // decoded
  bool broken = false;              // gives NaN
  std::int32_t broken_by = -1;      // gives NaN after this token

 private:
  Tensor with_broken_rows(const Tensor& hidden, const Tensor& ids) const {
    Tensor rows = hidden.detached_clone();
    for (std::int64_t t = 0; t < ids.count(); ++t) {
      if (ids.data<std::int32_t>()[t] != broken_by) continue;
      std::fill_n(rows.mutable_data<float>() + t * rows.size(1), rows.size(1), NAN);
    }
    return rows;
  }
  static StackConfig config(const TinyOptions& options) {
    StackConfig config{.block = {.hidden_size = 24,
                                 .attention = {.heads = 4, .key_heads = 2},
                                 .feed_forward = {.intermediate_size = 32},
                                 .norm_place = NormPlace::pre},
                       .layers = 2};
    config.block.attention.rotary = RotaryOptions{.scaling = options.scaling};
    for (const std::int64_t window : options.windows) config.layer_variants.push_back({.window = window});
    return config;
  }

  Embedding words_;
  Stack stack_;
};

inline Model tiny_decoder(const TinyOptions& options = {}, std::uint64_t seed = 3) {
  static const ModelFamily family{.model_type = "tiny-decoder", .class_name = "TinyDecoder", .prefix = ""};
  ModelConfig config{.family = &family};
  config.info = {.model_type = "tiny-decoder",
                 .vocab_size = kTinyVocabulary,
                 .embedding_size = 24,
                 .hidden_size = 24,
                 .layers = 2,
                 .max_tokens = options.longest};
  config.initializer_range = 0.5;
  config.heads = {{.kind = HeadKind::masked_lm}};
  config.make = [options] { return std::make_shared<TinyDecoder>(options); };
  Model model(config, HeadKind::masked_lm);
  initialize(model, seed);
  return model;
}

}  // namespace heed::test

// A decoder in a folder with expected.safetensors, as suites/hf-tiny-models has them: what HuggingFace made of its
// tokens. Each tensor must agree within 1e-5 of its largest value. Decoders that read in segments (Transformer-XL) have
// log-probabilities for logits, of one pass over all tokens ("whole") and of several. Those with an encoder have
// decoder_input_ids besides.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "heed/io/safetensors.h"
#include "heed/io/tensor_files.h"
#include "heed/models/load.h"
#include "heed/models/published.h"
#include "heed/ops/loss.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"
#include "support/temp_folder.h"

namespace heed::test {

inline constexpr double kDecoderTolerance = 1e-5;
// Of gradients where there is an encoder: T5's scores are not scaled, and HuggingFace's own f32 gradients are as far as
// 1.1e-5 from those in f64.
inline constexpr double kSeq2SeqTolerance = 2e-5;

inline SafetensorsFile expected_of(const std::filesystem::path& folder) {
  return SafetensorsFile(folder / "expected.safetensors");
}

inline double largest_of(const Tensor& values) {
  double largest = 0;
  for (const float each : values.to_vector<float>()) largest = std::max(largest, std::abs(static_cast<double>(each)));
  return largest;
}

// Within the tolerance of the largest value, or of `floor` if that is more.
inline void expect_close(const Tensor& ours, const Tensor& theirs, const std::string& what, double floor = 1e-30,
                         double tolerance = kDecoderTolerance) {
  ASSERT_EQ(ours.count(), theirs.count()) << what;
  const std::vector<float> a = ours.detached_contiguous().to_vector<float>(), b = theirs.to_vector<float>();
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  const double largest = std::max(largest_of(theirs), floor);
  EXPECT_LE(difference, tolerance * largest) << what << ": the largest is " << largest;
}

// [B, T] end to end, those of mask 0 left out.
inline Inputs packed(const Tensor& ids, const std::vector<std::int64_t>& mask = {}) {
  const std::vector<std::int64_t> all = ids.to_vector<std::int64_t>();
  std::vector<std::int64_t> kept, lengths;
  for (std::int64_t b = 0; b < ids.size(0); ++b) {
    lengths.push_back(0);
    for (std::int64_t t = 0; t < ids.size(1); ++t) {
      const auto i = static_cast<std::size_t>(b * ids.size(1) + t);
      if (!mask.empty() && mask[i] == 0) continue;
      kept.push_back(all[i]);
      ++lengths.back();
    }
  }
  return {.ids = Packed(Tensor::from(kept, {std::ssize(kept)}), Offsets(lengths))};
}

inline std::vector<std::int64_t> mask_of(const SafetensorsFile& answers) {
  return answers.contains("attention_mask") ? answers.tensor("attention_mask").to_vector<std::int64_t>()
                                            : std::vector<std::int64_t>();
}

inline bool has_source(const SafetensorsFile& answers) {
  return answers.contains("decoder_input_ids");
}

// The ids, and what an encoder is to read of them.
inline Inputs inputs_of(const SafetensorsFile& answers) {
  if (!has_source(answers)) return packed(answers.tensor("input_ids"));
  Inputs inputs = packed(answers.tensor("decoder_input_ids"));
  inputs.source = packed(answers.tensor("input_ids"), mask_of(answers)).ids;
  return inputs;
}

// What HuggingFace computes the loss of: models with an encoder are given the labels one place later.
inline Inputs training_inputs(const SafetensorsFile& answers, const Json& config) {
  Inputs inputs = inputs_of(answers);
  if (!has_source(answers)) return inputs;
  const Tensor labels = answers.tensor("labels");
  std::vector<std::int64_t> ids = labels.to_vector<std::int64_t>();
  const std::int64_t length = labels.size(1);
  for (std::int64_t i = labels.count() - 1; i >= 0; --i) {
    auto& id = ids[static_cast<std::size_t>(i)];
    id = i % length == 0 ? config.at("decoder_start_token_id").get<std::int64_t>()
                         : ids[static_cast<std::size_t>(i - 1)];
    if (id == -100) id = config.at("pad_token_id").get<std::int64_t>();
  }
  inputs.ids.values = Tensor::from(ids, {labels.count()});
  return inputs;
}

// Rows of [B, T, ...] whose mask is 1.
inline Tensor kept_rows(const Tensor& values, const std::vector<std::int64_t>& mask) {
  const std::vector<float> all = values.to_vector<float>();
  const auto width = static_cast<std::size_t>(values.size(2));
  std::vector<float> rows;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) rows.insert(rows.end(), &all[i * width], &all[i * width] + width);
  }
  return Tensor::from(rows, {std::ssize(rows)});
}

// What predicts the next token: targets are those of the token after.
inline Tensor next_labels(const Tensor& labels) {
  std::vector<std::int64_t> next = labels.to_vector<std::int64_t>();
  const std::int64_t length = labels.size(1);
  for (std::int64_t i = 0; i < labels.count(); ++i) {
    next[static_cast<std::size_t>(i)] = (i + 1) % length == 0 ? -100 : next[static_cast<std::size_t>(i + 1)];
  }
  return Tensor::from(next, {labels.count()});
}

inline void expect_states(const std::vector<Tensor>& states, const SafetensorsFile& answers, const std::string& name,
                          const std::vector<std::int64_t>& mask = {}) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::string numbered = name + "." + std::to_string(i);
    const Tensor theirs = answers.tensor(numbered);
    expect_close(states[i], mask.empty() ? theirs : kept_rows(theirs, mask), numbered);
  }
  EXPECT_FALSE(answers.contains(name + "." + std::to_string(states.size())));
}

inline void expect_encoder_states(const Model& model, const SafetensorsFile& answers) {
  ASSERT_TRUE(model.backbone()->reads());
  std::vector<Tensor> states;
  const Tensor last = model.backbone()->reads()->read(inputs_of(answers).source, Context(), &states);
  expect_states(states, answers, "encoder_hidden", mask_of(answers));
  expect_close(last, kept_rows(answers.tensor("encoder_last_hidden_state"), mask_of(answers)), "encoder's last");
}

inline void expect_values(const std::filesystem::path& folder) {
  const auto model = load_model(folder);
  const SafetensorsFile answers = expected_of(folder);
  const NoGrad no_grad;
  const ModelOutput out = model->forward(inputs_of(answers), Context(), true);
  if (answers.contains("whole.log_probs")) {
    expect_close(out.logits, answers.tensor("whole.log_probs"), "log-probabilities");
    expect_close(out.hidden, answers.tensor("whole.hidden"), "last hidden states");
    return;
  }
  expect_close(out.logits, answers.tensor("logits"), "logits");
  expect_states(out.states, answers, has_source(answers) ? "decoder_hidden" : "hidden");
  if (has_source(answers)) expect_encoder_states(*model, answers);
  if (!answers.contains("padded.logits")) return;
  const auto mask = answers.tensor("padded.attention_mask").to_vector<std::int64_t>();
  const Inputs inputs = packed(answers.tensor("padded.input_ids"), mask);
  expect_close(model->forward(inputs, Context()).logits, kept_rows(answers.tensor("padded.logits"), mask), "padded");
}

inline void expect_gradients(const std::filesystem::path& folder) {
  const auto model = load_model(folder);
  const SafetensorsFile answers = expected_of(folder);
  set_trainable(*model, true, [](std::string_view) { return true; });
  const ModelOutput out = model->forward(training_inputs(answers, model->config().source), Context());
  // Without labels the tokens themselves are what is to be predicted. Those of a model with an encoder are in place.
  const Tensor labels = answers.tensor(answers.contains("labels") ? "labels" : "input_ids");
  const Tensor targets = has_source(answers) ? labels.detached_reshape({labels.count()}) : next_labels(labels);
  const Tensor loss = cross_entropy(out.logits, targets);
  expect_close(loss, answers.tensor("loss"), "loss");
  backward(loss);
  // Gradients have the published names if they take the parameters' places.
  for (NamedParameter& each : named_parameters(*model)) {
    ASSERT_TRUE(each.parameter->grad().defined()) << each.name;
    each.parameter->copy_from(each.parameter->grad());
  }
  // Where a gradient is 0 but for rounding (biases of keys), rounding is what both have.
  std::size_t there = 0;
  double floor = 0;
  for (const std::string& name : answers.names()) {
    if (!name.starts_with("grad.")) continue;
    floor = std::max(floor, 1e-2 * largest_of(answers.tensor(name)));
    ++there;
  }
  std::size_t compared = 0;
  for (const PublishedTensor& tensor : published_tensors(*model)) {
    if (tensor.is_buffer) continue;
    expect_close(tensor.written(), answers.tensor("grad." + tensor.name), "grad." + tensor.name, floor,
                 has_source(answers) ? kSeq2SeqTolerance : kDecoderTolerance);
    ++compared;
  }
  EXPECT_EQ(compared, there);
}

// Token by token the hidden states of sequences of one length have the bits of one pass.
inline void expect_same_steps(const Model& model, const Inputs& whole) {
  ASSERT_TRUE(model.backbone()->decodes());
  const NoGrad no_grad;
  const Tensor all = model.encode(whole, Context());
  const Offsets& offsets = whole.ids.offsets;
  DecodeState state = model.backbone()->decodes()->start();
  if (const Reads* reads = model.backbone()->reads()) reads->join(whole.source, state, Context());
  const std::vector<std::int64_t> ids = whole.ids.values.to_vector<std::int64_t>();
  for (std::int64_t t = 0; t < offsets.length(0); ++t) {
    std::vector<std::int64_t> step;
    for (std::int64_t b = 0; b < offsets.sequences(); ++b)
      step.push_back(ids[static_cast<std::size_t>(offsets.begin(b) + t)]);
    const Tensor hidden = model.backbone()->decodes()->decode(
        {.ids = Packed(Tensor::from(step, {std::ssize(step)}), Offsets(std::vector<std::int64_t>(step.size(), 1)))},
        state, Context().child("encoder"));
    for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
      const std::int64_t row = offsets.begin(b) + t;
      EXPECT_EQ(hidden.detached_slice(0, b, b + 1).detached_contiguous().to_vector<float>(),
                all.detached_slice(0, row, row + 1).detached_contiguous().to_vector<float>());
    }
  }
}

inline void expect_same_steps(const std::filesystem::path& folder) {
  expect_same_steps(*load_model(folder), inputs_of(expected_of(folder)));
}

inline void expect_same_when_saved(const std::filesystem::path& folder) {
  const auto model = load_model(folder);
  const TempFolder copy;
  save_model(*model, copy.path());
  const TensorFiles ours(copy.path()), theirs(folder);
  EXPECT_EQ(ours.names(), theirs.names());
  for (const std::string& name : theirs.names()) {
    EXPECT_EQ(ours.tensor(name).to_vector<float>(), theirs.tensor(name).to_vector<float>()) << name;
  }
}

inline void expect_segments(const std::filesystem::path& folder) {
  constexpr std::int64_t kSegments = 4;
  const auto model = load_model(folder);
  const SafetensorsFile answers = expected_of(folder);
  ASSERT_TRUE(model->backbone()->recurs());
  const NoGrad no_grad;
  const Tensor ids = answers.tensor("input_ids"), probabilities = answers.tensor("segments.log_probs");
  const Recurs& recurs = *model->backbone()->recurs();
  SegmentMemory memory = recurs.remember();
  const std::int64_t length = ids.size(1) / kSegments;
  for (std::int64_t s = 0; s < kSegments; ++s) {
    const auto segment = [&](const Tensor& all) {
      return all.detached_slice(1, s * length, (s + 1) * length).detached_contiguous();
    };
    const Tensor hidden = recurs.read(packed(segment(ids)), memory, Context());
    expect_close(model->logits_of_rows(hidden, Context()), segment(probabilities), "segment " + std::to_string(s));
  }
  // [tokens, B, C] in the file.
  for (std::size_t layer = 0; layer < memory.layers().size(); ++layer) {
    const Tensor theirs = answers.tensor("segments.mems." + std::to_string(layer));
    expect_close(memory.layers()[layer].values, theirs.detached_transpose(0, 1).detached_contiguous(),
                 "memory of layer " + std::to_string(layer));
  }
  EXPECT_FALSE(answers.contains("segments.mems." + std::to_string(memory.layers().size())));
}

}  // namespace heed::test

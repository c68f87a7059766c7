// Decoders that HuggingFace itself wrote, with its logits, hidden states, losses and gradients, as files: every folder
// of suites/hf-tiny-models that is a decoder, and each must agree within 1e-5 of the largest value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/io/model_folder.h"
#include "heed/io/safetensors.h"
#include "heed/models/load.h"
#include "heed/models/published.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr double kTolerance = 1e-5;

fs::path suite() {
  return test::suite_data("hf-tiny-models");
}

std::vector<std::string> decoders() {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(suite(), absent)) {
    if (!entry.is_directory()) continue;
    const Json config = ModelFolder(entry.path()).config();
    const std::string type = config.value("model_type", "");
    const bool known =
        std::ranges::any_of(model_families(), [&](const auto* each) { return each->model_type == type; });
    if (!config.value("is_encoder_decoder", false) && known) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

void expect_close(const Tensor& ours, const Tensor& theirs, const std::string& what) {
  ASSERT_EQ(ours.count(), theirs.count()) << what;
  const std::vector<float> a = ours.detached_contiguous().to_vector<float>(), b = theirs.to_vector<float>();
  double largest = 1e-30, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  EXPECT_LE(difference, kTolerance * largest) << what << ": the largest is " << largest;
}

// [B, T] end to end, those of mask 0 left out.
Inputs packed(const Tensor& ids, const std::vector<std::int64_t>& mask = {}) {
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

// Rows of [B, T, ...] whose mask is 1.
Tensor kept_rows(const Tensor& values, const std::vector<std::int64_t>& mask) {
  const std::vector<float> all = values.to_vector<float>();
  const auto width = static_cast<std::size_t>(values.size(2));
  std::vector<float> rows;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) rows.insert(rows.end(), &all[i * width], &all[i * width] + width);
  }
  return Tensor::from(rows, {std::ssize(rows)});
}

// What predicts the next token: targets are those of the token after.
Tensor next_labels(const Tensor& labels) {
  std::vector<std::int64_t> next = labels.to_vector<std::int64_t>();
  const std::int64_t length = labels.size(1);
  for (std::int64_t i = 0; i < labels.count(); ++i) {
    next[static_cast<std::size_t>(i)] = (i + 1) % length == 0 ? -100 : next[static_cast<std::size_t>(i + 1)];
  }
  return Tensor::from(next, {labels.count()});
}

class DecoderSuite : public testing::TestWithParam<std::string> {
 protected:
  fs::path folder() const { return suite() / GetParam(); }
  SafetensorsFile expected() const { return SafetensorsFile(folder() / "expected.safetensors"); }
};

TEST_P(DecoderSuite, LogitsAndHiddenStates) {
  const auto model = load_model(folder());
  const SafetensorsFile answers = expected();
  const NoGrad no_grad;
  const ModelOutput out = model->forward(packed(answers.tensor("input_ids")), Context(), true);
  expect_close(out.logits, answers.tensor("logits"), "logits");
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    expect_close(out.states[i], answers.tensor("hidden." + std::to_string(i)), "hidden." + std::to_string(i));
  }
  EXPECT_FALSE(answers.contains("hidden." + std::to_string(out.states.size())));
  if (!answers.contains("padded.logits")) return;
  const auto mask = answers.tensor("padded.attention_mask").to_vector<std::int64_t>();
  const Inputs inputs = packed(answers.tensor("padded.input_ids"), mask);
  expect_close(model->forward(inputs, Context()).logits, kept_rows(answers.tensor("padded.logits"), mask), "padded");
}

TEST_P(DecoderSuite, LossAndGradients) {
  const auto model = load_model(folder());
  const SafetensorsFile answers = expected();
  set_trainable(*model, true, [](std::string_view) { return true; });
  const ModelOutput out = model->forward(packed(answers.tensor("input_ids")), Context());
  const Tensor loss = cross_entropy(out.logits, next_labels(answers.tensor("labels")));
  expect_close(loss, answers.tensor("loss"), "loss");
  backward(loss);
  // Gradients have the published names if they take the parameters' places.
  for (NamedParameter& each : named_parameters(*model)) {
    ASSERT_TRUE(each.parameter->grad().defined()) << each.name;
    each.parameter->copy_from(each.parameter->grad());
  }
  std::size_t compared = 0;
  for (const PublishedTensor& tensor : published_tensors(*model)) {
    expect_close(tensor.written(), answers.tensor("grad." + tensor.name), "grad." + tensor.name);
    ++compared;
  }
  std::size_t there = 0;
  for (const std::string& name : answers.names()) there += name.starts_with("grad.");
  EXPECT_EQ(compared, there);
}

TEST_P(DecoderSuite, StepsHaveTheBitsOfTheWhole) {
  const auto model = load_model(folder());
  const NoGrad no_grad;
  const Inputs whole = packed(expected().tensor("input_ids"));
  const Tensor all = model->encode(whole, Context());
  const Offsets& offsets = whole.ids.offsets;
  DecodeState state = model->backbone()->decodes()->start();
  const std::vector<std::int64_t> ids = whole.ids.values.to_vector<std::int64_t>();
  for (std::int64_t t = 0; t < offsets.length(0); ++t) {
    std::vector<std::int64_t> step;
    for (std::int64_t b = 0; b < offsets.sequences(); ++b)
      step.push_back(ids[static_cast<std::size_t>(offsets.begin(b) + t)]);
    const Tensor hidden = model->backbone()->decodes()->decode(
        {.ids = Packed(Tensor::from(step, {std::ssize(step)}), Offsets(std::vector<std::int64_t>(step.size(), 1)))},
        state, Context().child("encoder"));
    for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
      const std::int64_t row = offsets.begin(b) + t;
      EXPECT_EQ(hidden.detached_slice(0, b, b + 1).detached_contiguous().to_vector<float>(),
                all.detached_slice(0, row, row + 1).detached_contiguous().to_vector<float>());
    }
  }
}

TEST_P(DecoderSuite, SavedAgainItHasTheSameTensors) {
  const auto model = load_model(folder());
  const fs::path copy = fs::path(testing::TempDir()) / ("heed_decoder_" + GetParam());
  save_model(*model, copy);
  const SafetensorsFile ours(copy / "model.safetensors"), theirs(folder() / "model.safetensors");
  EXPECT_EQ(ours.names(), theirs.names());
  for (const std::string& name : theirs.names()) {
    EXPECT_EQ(ours.tensor(name).to_vector<float>(), theirs.tensor(name).to_vector<float>()) << name;
  }
  fs::remove_all(copy);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DecoderSuite);
INSTANTIATE_TEST_SUITE_P(HuggingFace, DecoderSuite, testing::ValuesIn(decoders()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(DecoderSuiteFiles, AreThere) {
  if (!fs::exists(suite())) GTEST_SKIP() << suite() << " is not there";
  EXPECT_FALSE(decoders().empty());
}

}  // namespace
}  // namespace heed

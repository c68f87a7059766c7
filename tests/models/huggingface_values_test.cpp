// Decoders of families that are not in suites/hf-tiny-models, all kinds of rope, and encoders that are decoders: what
// HuggingFace computes for them is in tests/models/huggingface, which tools/huggingface_values.py wrote.
#include <gtest/gtest.h>

#include <filesystem>

#include "generate/generate_case.h"
#include "heed/base/file.h"
#include "models/decoder_checks.h"
#include "support/huggingface_weights.h"
#include "support/shared_data.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

fs::path values_folder() {
  return test::tests_folder() / "models/huggingface";
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(values_folder())) found.push_back(entry.path().stem());
  std::ranges::sort(found);
  return found;
}

class HuggingFaceValues : public testing::TestWithParam<std::string> {
 protected:
  HuggingFaceValues()
      : expected_(parse_json(read_file(values_folder() / (GetParam() + ".json"), 1 << 20), GetParam())) {
    ModelConfig config = parse_model_config(expected_["config"], "config.json");
    const HeadKind head = head_of(config, "config.json");
    model_.emplace(std::move(config), head);
    test::set_huggingface_weights(*model_);
  }

  Tensor ids() const {
    std::vector<std::int64_t> all;
    for (const Json& row : expected_["input_ids"]) {
      for (const Json& id : row) all.push_back(id.get<std::int64_t>());
    }
    const std::int64_t rows = std::ssize(expected_["input_ids"]);
    return Tensor::from(all, {rows, std::ssize(all) / rows});
  }
  static Tensor tensor_of(const Json& rows) {
    std::vector<float> values;
    for (const Json& row : rows) {
      for (const Json& value : row) values.push_back(value.get<float>());
    }
    return Tensor::from(values, {std::ssize(values)});
  }
  // Of every sequence's tokens at these places.
  static Tensor rows_at(const Tensor& values, const Offsets& offsets, const std::vector<std::int64_t>& places) {
    std::vector<Tensor> rows;
    for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
      for (const std::int64_t place : places) {
        rows.push_back(values.detached_slice(0, offsets.begin(b) + place, offsets.begin(b) + place + 1));
      }
    }
    return concat(rows, 0);
  }

  void expect_same_ends() const {
    const NoGrad no_grad;
    const Tensor first = ids().detached_slice(0, 0, 1).detached_contiguous();
    DecodeState state = model_->backbone()->decodes()->start();
    for (std::int64_t t = 0; t < first.size(1); ++t) {
      const Inputs step = test::packed(first.detached_slice(1, t, t + 1).detached_contiguous());
      const Tensor hidden = model_->backbone()->decodes()->decode(step, state, Context());
      const Tensor whole = model_->encode(test::packed(first.detached_slice(1, 0, t + 1).detached_contiguous()), {});
      EXPECT_TRUE(same_bits(hidden, whole.detached_slice(0, t, t + 1).detached_contiguous())) << t;
    }
  }

  Json expected_;
  std::optional<Model> model_;
};

TEST_P(HuggingFaceValues, LogitsAndHiddenStates) {
  const NoGrad no_grad;
  const Inputs inputs = test::packed(ids());
  const Offsets& offsets = inputs.ids.offsets;
  const ModelOutput out = model_->forward(inputs, Context(), true);
  const auto places = expected_["positions"].get<std::vector<std::int64_t>>();
  test::expect_close(rows_at(out.logits, offsets, places), tensor_of(expected_["logits"]), "logits");
  ASSERT_EQ(out.states.size(), expected_["hidden"].size());
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    test::expect_close(rows_at(out.states[i], offsets, places), tensor_of(expected_["hidden"][i]),
                       "hidden states " + std::to_string(i));
  }
}

// Of each gradient the largest absolute value, to which a few of its elements are compared.
TEST_P(HuggingFaceValues, LossAndGradients) {
  set_trainable(*model_, true, [](std::string_view) { return true; });
  const ModelOutput out = model_->forward(test::packed(ids()), Context());
  const Tensor loss = cross_entropy(out.logits, test::next_labels(ids()));
  EXPECT_NEAR(loss.item(), expected_["loss"].get<double>(), test::kDecoderTolerance * expected_["loss"].get<double>());
  backward(loss);
  // Gradients have the published names if they take the parameters' places.
  for (NamedParameter& each : named_parameters(*model_)) {
    ASSERT_TRUE(each.parameter->grad().defined()) << each.name;
    each.parameter->copy_from(each.parameter->grad());
  }
  // Where a gradient is 0 apart from rounding (biases of keys), rounding is what both have.
  double floor = 0;
  for (const Json& each : expected_["gradients"]) floor = std::max(floor, 1e-2 * each[0].get<double>());
  std::size_t compared = 0;
  for (const PublishedTensor& tensor : published_tensors(*model_)) {
    SCOPED_TRACE(tensor.name);
    ASSERT_TRUE(expected_["gradients"].contains(tensor.name));
    const auto theirs = expected_["gradients"][tensor.name].get<std::vector<double>>();
    const std::vector<float> ours = tensor.written().to_vector<float>();
    const double largest = std::abs(*std::ranges::max_element(ours, {}, [](float x) { return std::abs(x); }));
    const double near = test::kDecoderTolerance * std::max(theirs[0], floor);
    EXPECT_NEAR(largest, theirs[0], near);
    for (std::size_t k = 1; k < theirs.size(); ++k) EXPECT_NEAR(ours[k * 7919 % ours.size()], theirs[k], near) << k;
    ++compared;
  }
  EXPECT_EQ(compared, expected_["gradients"].size());
}

TEST_P(HuggingFaceValues, Generations) {
  const NoGrad no_grad;
  for (const Json& example : expected_["generate"]) test::expect_case(*model_, example, Json::object());
}

// But with dynamic rope, which turns every token by the length of the text at its time.
TEST_P(HuggingFaceValues, StepsHaveTheBitsOfTheWhole) {
  const Json rope = expected_["config"].value("rope_parameters", Json::object());
  const std::string kind = rope.value("rope_type", "");
  if (kind == "dynamic") return;
  // Longrope does so too, up to the length where it reads its text again: there the last token has the bits of a text
  // that ends with it.
  if (kind == "longrope") return expect_same_ends();
  test::expect_same_steps(*model_, test::packed(ids()));
}

TEST_P(HuggingFaceValues, SavedAndLoadedItIsTheSame) {
  const fs::path folder = fs::path(testing::TempDir()) / ("heed_values_" + GetParam());
  save_model(*model_, folder);
  const auto loaded = load_model(folder);
  const NoGrad no_grad;
  const Inputs inputs = test::packed(ids());
  EXPECT_TRUE(same_bits(loaded->forward(inputs, Context()).logits, model_->forward(inputs, Context()).logits));
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Decoders, HuggingFaceValues, testing::ValuesIn(names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace heed

#include "heed/explain/expected_tokens.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/explain/look.h"
#include "heed/io/safetensors.h"
#include "heed/models/load.h"
#include "heed/models/model.h"
#include "heed/tasks/generate.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

class ExpectedTokens : public ::testing::Test {
 protected:
  ExpectedTokens() { test::write_random_decoder(folder_.path()); }

  const test::TempFolder folder_;
};

// A text that the model wrote: the lens of the last layer is what the decoding loop saw, step by step over its cache.
TEST_F(ExpectedTokens, OfWrittenTextAreThoseOfTheLoop) {
  const LoadedModel model(folder_.path(), 512);
  const std::string options = R"({"max_new_tokens": 9, "do_sample": true, "seed": 5, "alternatives": 3})";
  const Look look = look_at(model, "the quick fox", {.generation = options, .alternatives = 3});
  const WrittenText written = generate_texts(model, {"the quick fox"}, options).front().front();
  ASSERT_EQ(look.written_from, 3u);
  ASSERT_EQ(look.text.tokens.size(), 3 + written.tokens.size());
  ASSERT_EQ(look.expected.size(), look.text.tokens.size() - 1);
  for (std::size_t i = 0; i < written.tokens.size(); ++i) {
    const ExpectedToken& expected = look.expected[2 + i];
    EXPECT_EQ(expected.place, 3 + i);
    EXPECT_NEAR(std::log(expected.probability), written.tokens[i].log_probability, 1e-5);
    EXPECT_EQ(expected.probability, expected.own.back());
    ASSERT_EQ(expected.layers.size(), 4u);
    ASSERT_EQ(expected.alternatives.size(), 3u);
    EXPECT_EQ(expected.layers.back().text, expected.alternatives[0].text);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(std::log(expected.alternatives[k].probability), written.tokens[i].alternatives[k].log_probability,
                  1e-5);
    }
    const bool likeliest = expected.alternatives[0].text == look.text.tokens[expected.place];
    EXPECT_EQ(expected.rank == 0, likeliest);
  }
}

// HuggingFace's hidden states through norm and head, in double by hand, against the end of our model.
TEST(LogitLens, ReadsHiddenStatesOfEveryLayer) {
  const auto folder = test::shared_data("suites/hf-tiny-models") / "llama-a";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const NoGrad no_grad;
  const auto model = load_model(folder);
  const SafetensorsFile answers(folder / "expected.safetensors"), weights(folder / "model.safetensors");
  const Tensor states = answers.tensor("hidden.1");
  const std::int64_t size = states.size(2), rows = states.count() / size;
  const std::vector<float> x = states.to_vector<float>(), norm = weights.tensor("model.norm.weight").to_vector<float>();
  const bool tied = !weights.contains("lm_head.weight");
  const std::vector<float> head =
      weights.tensor(tied ? "model.embed_tokens.weight" : "lm_head.weight").to_vector<float>();
  const std::int64_t vocabulary = std::ssize(head) / size;
  const double epsilon = model->config().source.value("rms_norm_eps", 1e-6);
  const Tensor hidden = Tensor::from(x, {rows, size});
  const Tensor logits = model->logits_of_rows(model->backbone()->decodes()->finish(hidden), Context());
  ASSERT_EQ(logits.shape(), Shape({rows, vocabulary}));
  double largest = 0, difference = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = &x[static_cast<std::size_t>(r * size)];
    double squares = 0;
    for (std::int64_t c = 0; c < size; ++c) squares += static_cast<double>(row[c]) * static_cast<double>(row[c]);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(size) + epsilon);
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      double sum = 0;
      for (std::int64_t c = 0; c < size; ++c) {
        sum += static_cast<double>(row[c]) * factor * static_cast<double>(norm[static_cast<std::size_t>(c)]) *
               static_cast<double>(head[static_cast<std::size_t>(v * size + c)]);
      }
      largest = std::max(largest, std::abs(sum));
      difference = std::max(difference, std::abs(sum - logits.at({r, v})));
    }
  }
  EXPECT_LE(difference, 1e-5 * largest);
}

TEST_F(ExpectedTokens, NeedsAModelThatWrites) {
  const test::TempFolder encoder;
  test::write_random_model(encoder.path(), HeadKind::none, {});
  const LoadedModel model(encoder.path(), 512);
  test::error_of(ErrorKind::invalid_argument, [&] { look_at(model, "the fox", {.generation = "{}"}); });
  EXPECT_TRUE(look_at(model, "the fox").expected.empty());
  const LoadedModel decoder(folder_.path(), 512);
  test::error_of(ErrorKind::invalid_argument, [&] { look_at(decoder, {"the fox", "a dog"}); });
}

}  // namespace
}  // namespace heed

#include "heed/tasks/zero_shot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/engine/load.h"
#include "heed/models/load.h"
#include "heed/tasks/run_task.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

class ZeroShotTest : public testing::Test {
 protected:
  ZeroShotTest() {
    test::write_random_model(folder_.path(), HeadKind::sequence_classification,
                             {"neutral", "CONTRADICTION", "Entailment"}, 3);
  }
  // The logits of (text, hypothesis), straight from the model.
  std::vector<double> logits(const LoadedModel& model, const std::string& text, const std::string& hypothesis) const {
    const auto plain = load_model(folder_.path());
    const auto encoding = model.tokenizer().encode(text, hypothesis);
    const auto n = static_cast<std::int64_t>(encoding.size());
    const Tensor found =
        plain
            ->forward({Packed(Tensor::from(encoding.ids, {n}), Offsets({n})), Tensor::from(encoding.type_ids, {n})},
                      Context())
            .logits;
    return {found.at({0, 0}), found.at({0, 1}), found.at({0, 2})};
  }
  test::TempFolder folder_;
};

TEST_F(ZeroShotTest, OneOfSeveralIsASoftmaxOfEntailment) {
  const LoadedModel model = load(folder_.path());
  const std::vector<std::string> labels = {"fox", "dog", "bee"};
  double sum = 0;
  std::map<std::string, double> expected;
  for (const std::string& label : labels) {
    sum += expected[label] = std::exp(logits(model, "the quick fox", "This example is " + label + ".")[2]);
  }
  const auto found = zero_shot(model, {"the quick fox"}, labels)[0];
  ASSERT_EQ(found.size(), 3u);
  for (const LabelScore& each : found) EXPECT_NEAR(each.score, expected[each.label] / sum, 1e-5) << each.label;
  EXPECT_GE(found[0].score, found[1].score);
  EXPECT_GE(found[1].score, found[2].score);
}

TEST_F(ZeroShotTest, SeveralAreEntailmentAgainstContradiction) {
  const LoadedModel model = load(folder_.path());
  const auto of = [&](const std::string& label) {
    const auto values = logits(model, "the quick fox", "a " + label + " !");
    return std::exp(values[2]) / (std::exp(values[1]) + std::exp(values[2]));
  };
  const ZeroShotOptions options{.hypothesis = "a {} !", .multi_label = true};
  const auto found = zero_shot(model, {"the quick fox"}, {"fox", "dog"}, options)[0];
  for (const LabelScore& each : found) EXPECT_NEAR(each.score, of(each.label), 1e-5) << each.label;
  // A single label has nothing to compete with.
  const ZeroShotOptions single{.hypothesis = "a {} !"};
  EXPECT_NEAR(zero_shot(model, {"the quick fox"}, {"dog"}, single)[0][0].score, of("dog"), 1e-5);
}

TEST_F(ZeroShotTest, TheJsonIsThatOfHuggingFace) {
  const LoadedModel model = load(folder_.path());
  const Json request = {{"text", "the fox"}, {"labels", {"fox", "dog"}}};
  const Json answer = run_task(model, "zero_shot", std::span(&request, 1))[0];
  EXPECT_EQ(answer.at("sequence"), "the fox");
  EXPECT_EQ(answer.at("labels").size(), 2u);
  EXPECT_GE(answer.at("scores")[0].get<double>(), answer.at("scores")[1].get<double>());
}

TEST_F(ZeroShotTest, OfALongTextTheEndIsCutOffAndNotTheHypothesis) {
  const LoadedModel model = load(folder_.path());
  std::string text;
  for (int i = 0; i < 100; ++i) text += "the dog ";
  const auto found = zero_shot(model, {text}, {"fox", "bee"})[0];
  EXPECT_NE(found[0].score, found[1].score);
}

TEST_F(ZeroShotTest, RefusesWhatItCannotDo) {
  const LoadedModel model = load(folder_.path());
  test::error_of(ErrorKind::bad_format, [&] { zero_shot(model, {"a"}, {"b"}, {.hypothesis = "no place"}); });
  test::error_of(ErrorKind::invalid_argument, [&] { zero_shot(model, {"a"}, {}); });
  const test::TempFolder other;
  test::write_random_model(other.path(), HeadKind::sequence_classification, {"good", "bad"});
  EXPECT_FALSE(load(other.path()).supports("zero-shot"));
  test::error_of(ErrorKind::invalid_argument, [&] { zero_shot(load(other.path()), {"a"}, {"b"}); });
}

}  // namespace
}  // namespace heed

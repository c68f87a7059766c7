#include "heed/tasks/zero_shot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/engine/load.h"
#include "heed/models/load.h"
#include "heed/tasks/run_task.h"
#include "support/error_of.h"
#include "support/huggingface_weights.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

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

// What its pipeline answers, as tools/huggingface_zero_shot.py wrote it down.
class RecordedZeroShot : public testing::TestWithParam<std::size_t> {
 protected:
  RecordedZeroShot() {
    const fs::path file = test::tests_folder() / "tasks/zero_shot_values.json";
    values_ = parse_json(read_file(file, 1 << 20), file.string());
    Model model(parse_model_config(recorded().at("config"), "config.json"), HeadKind::sequence_classification);
    test::set_huggingface_weights(model);
    save_model(model, folder_.path());
    folder_.write("vocab.txt", join(values_.at("vocabulary").get<std::vector<std::string>>(), "\n"));
  }
  const Json& recorded() const { return values_.at("models").at(GetParam()); }
  Json values_;
  test::TempFolder folder_;
};

TEST_P(RecordedZeroShot, AnswersAsThePipelineOfHuggingFace) {
  const LoadedModel model = load(folder_.path());
  const auto texts = values_.at("texts").get<std::vector<std::string>>();
  ASSERT_EQ(recorded().at("cases").size(), 4u);
  for (const Json& given : recorded()["cases"]) {
    const Json& wanted = given.at("options");
    ZeroShotOptions options;
    options.multi_label = wanted.value("multi_label", options.multi_label);
    options.hypothesis = wanted.value("hypothesis_template", options.hypothesis);
    const Json labels = wanted.value("candidate_labels", values_.at("labels"));
    const auto found = zero_shot(model, texts, labels.get<std::vector<std::string>>(), options);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Json& expected = given.at("answers").at(i);
      ASSERT_EQ(found[i].size(), expected.at("labels").size());
      for (std::size_t k = 0; k < found[i].size(); ++k) {
        EXPECT_EQ(found[i][k].label, expected["labels"][k]) << wanted << " " << i;
        EXPECT_NEAR(found[i][k].score, expected["scores"][k].get<double>(), 1e-5) << wanted << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, RecordedZeroShot, testing::Values(0, 1));

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

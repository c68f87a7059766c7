#include "heed/tasks/class_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/tasks/registry.h"
#include "heed/text/load_tokenizer.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

// scikit-learn: compute_class_weight("balanced", classes=["a", "b", "c"], y=["a"] * 6 + ["b"] * 3 + ["c"]) is
// [0.5555..., 1.1111..., 3.3333...].
TEST(ClassWeights, BalancedIsThatOfScikitLearn) {
  ClassWeights weights("balanced");
  for (const char* label : {"a", "a", "b", "a", "c", "a", "b", "a", "b", "a"}) weights.learn(label);
  weights.set_labels({"a", "b", "c"});
  const float* found = weights.tensor(true).data<float>();
  EXPECT_FLOAT_EQ(found[0], 10.0F / 18);
  EXPECT_FLOAT_EQ(found[1], 10.0F / 9);
  EXPECT_FLOAT_EQ(found[2], 10.0F / 3);
  EXPECT_FALSE(weights.tensor(false).defined());
  EXPECT_NEAR(weights.sum({0, kNoTarget, 2}, true), 10.0 / 18 + 10.0 / 3, 1e-6);
  EXPECT_EQ(weights.sum({0, kNoTarget, 2}, false), 2);
}

TEST(ClassWeights, OwnOnesNameLabelsThatAreThere) {
  ClassWeights weights(Json{{"rare", 4}});
  weights.set_labels({"common", "rare"});
  EXPECT_EQ(weights.sum({0, 1}, true), 5);
  ClassWeights wrong(Json{{"rrae", 4}});
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] {
    wrong.set_labels({"common", "rare"});
  });
  EXPECT_NE(message.find("did you mean \"rare\"?"), std::string::npos) << message;
  Json bad = {{"a", -1}};
  test::error_of(ErrorKind::bad_format, [&] { class_weights_field(bad).check("c.json"); });
  bad = "heavy";
  test::error_of(ErrorKind::bad_format, [&] { class_weights_field(bad).check("c.json"); });
}

// sum(w * -log p) over what has a class, by plain arithmetic.
TEST(ClassWeights, WeighTheLossOfTrainingAndNotThatOfScoring) {
  const test::TempFolder folder;
  test::write_small_vocabulary(folder.path());
  const text::Tokenizer tokenizer = text::load_tokenizer(folder.path());
  const text::SpecialTokens special(tokenizer);
  const auto task = task_named("classify")
                        .make_trainable({.tokenizer = tokenizer, .special = special, .max_tokens = 40},
                                        {{"class_weights", {{"b", 3}}}});
  task->set_labels({"a", "b"});
  std::vector<Sample> samples;
  for (const char* label : {"a", "b", "unheard of"}) {
    const Row row{.text = "the fox", .labels = {label}};
    Sample sample{.sequences = task->encode(row, Purpose::train)[0], .rows = {row}};
    sample.targets = {task->targets(row, row.text, sample.sequences, {1, 1})};
    samples.push_back(std::move(sample));
  }
  const Batch batch = make_batch(std::move(samples), {});
  HeadBatch part{.batch = batch, .training = true};
  part.logits = Tensor::from({0.0F, 1.0F, 2.0F, 0.5F, 7.0F, -7.0F}, {3, 2});
  const double first = std::log(1 + std::exp(1.0)), second = std::log(1 + std::exp(1.5));
  EXPECT_NEAR(task->loss(part).item(), first + 3 * second, 1e-5);
  EXPECT_EQ(task->count(part), 4);
  part.training = false;
  EXPECT_NEAR(task->loss(part).item(), first + second, 1e-5);
  EXPECT_EQ(task->count(part), 2);
}

}  // namespace
}  // namespace heed

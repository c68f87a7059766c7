#include "heed/train/recipe.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

constexpr RunSize kMiniLm{.samples = 7000, .tokens = 7000 * 24, .longest = 80, .hidden_size = 384, .layers = 6};
constexpr RunSize kBertBase{.samples = 7000, .tokens = 7000 * 24, .longest = 80, .hidden_size = 768, .layers = 12};
constexpr RunSize kTiny{.samples = 7000, .tokens = 7000 * 24, .longest = 80, .hidden_size = 128, .layers = 2};

RunSize with_rows(RunSize size, std::int64_t rows, std::int64_t length = 24) {
  size.samples = rows;
  size.tokens = rows * length;
  size.longest = 3 * length;
  return size;
}

TrainConfig chosen(const RunSize& size, bool from_nothing = false) {
  TrainConfig config;
  if (!from_nothing) config.model.from = "folder";
  EXPECT_NE(choose_recipe(config, size), "");
  return config;
}

double steps_of(const TrainConfig& config, const RunSize& size) {
  return static_cast<double>(config.epochs * size.tokens) / static_cast<double>(config.batch.tokens);
}

TEST(Recipe, IsWhatTheFieldUses) {
  EXPECT_DOUBLE_EQ(chosen(kMiniLm).optimizer.learning_rate, 2e-4);
  const double base = chosen(kBertBase).optimizer.learning_rate;
  EXPECT_GE(base, 2e-5);
  EXPECT_LE(base, 5e-5);
  const double tiny = chosen(kTiny).optimizer.learning_rate;
  EXPECT_GT(tiny, chosen(kMiniLm).optimizer.learning_rate);
  EXPECT_LE(tiny, 1e-3);
  for (const RunSize& size : {kMiniLm, kBertBase, kTiny}) {
    const TrainConfig config = chosen(size);
    const auto rows = static_cast<double>(config.batch.tokens) / 24;
    EXPECT_GE(rows, 16);
    EXPECT_LE(rows, 32);
    EXPECT_GE(config.epochs, 3);
    EXPECT_LE(config.epochs, 6);
    EXPECT_GE(config.evaluate.patience, 2);
    // From nothing there is more to learn, and nothing to spoil.
    const TrainConfig from_nothing = chosen(size, true);
    EXPECT_GT(from_nothing.optimizer.learning_rate, config.optimizer.learning_rate);
    EXPECT_LE(from_nothing.optimizer.learning_rate, 2e-3);
    EXPECT_GT(from_nothing.epochs, config.epochs);
  }
  EXPECT_NEAR(chosen({.samples = 4000, .tokens = 160000, .longest = 200, .hidden_size = 192, .layers = 4}, true)
                  .optimizer.learning_rate,
              1e-3, 1e-4);
}

TEST(Recipe, MoreDataMeansMoreStepsInFewerEpochs) {
  for (const bool from_nothing : {false, true}) {
    std::int64_t epochs = 1000, tokens = 0;
    double steps = 0;
    for (std::int64_t rows = 20; rows < 5'000'000; rows *= 2) {
      const RunSize size = with_rows(kMiniLm, rows);
      const TrainConfig config = chosen(size, from_nothing);
      EXPECT_LE(config.epochs, epochs) << rows;
      EXPECT_GE(config.epochs, 1) << rows;
      EXPECT_GE(config.batch.tokens, tokens) << rows;
      // Rounding epochs up may cost some.
      EXPECT_GE(steps_of(config, size), 0.6 * steps) << rows;
      epochs = config.epochs;
      tokens = config.batch.tokens;
      steps = std::max(steps, steps_of(config, size));
    }
  }
}

TEST(Recipe, ALargerModelHasALowerLearningRate) {
  for (const bool from_nothing : {false, true}) {
    double rate = 1;
    for (std::int64_t hidden = 16; hidden <= 4096; hidden *= 2) {
      RunSize size = kMiniLm;
      size.hidden_size = hidden;
      const double next = chosen(size, from_nothing).optimizer.learning_rate;
      EXPECT_LE(next, rate) << hidden;
      EXPECT_GT(next, 1e-7) << hidden;
      rate = next;
    }
  }
}

TEST(Recipe, LongTextsComeByTheRowToo) {
  EXPECT_GE(chosen(with_rows(kMiniLm, 7000, 150)).batch.tokens, 16 * 150);
  EXPECT_LE(chosen(with_rows(kMiniLm, 7000, 512)).batch.tokens, 4096);  // memory
}

TEST(Recipe, AFewWeightsMayMoveFaster) {
  RunSize few = kMiniLm;
  few.trained_share = 0.01;
  EXPECT_GT(chosen(few).optimizer.learning_rate, 3 * chosen(kMiniLm).optimizer.learning_rate);
}

TEST(Recipe, VectorsHaveNoHeadThatHasToLearn) {
  TrainConfig config;
  config.task = "embed";
  config.model.from = "folder";
  choose_recipe(config, kMiniLm);
  EXPECT_DOUBLE_EQ(config.optimizer.learning_rate, 5e-5);
}

TEST(Recipe, WhatIsGivenStaysAndTheRestFollows) {
  TrainConfig config;
  config.model.from = "folder";
  config.epochs = 2;
  EXPECT_EQ(choose_recipe(config, kMiniLm), "batch.tokens 576, optimizer.learning_rate 0.0002");
  EXPECT_EQ(config.epochs, 2);
  EXPECT_EQ(config.evaluate.patience, 0);  // a length that is given is the length
  EXPECT_EQ(choose_recipe(config, kTiny), "");

  TrainConfig large;
  large.model.from = "folder";
  large.batch.tokens = 4096;
  choose_recipe(large, kMiniLm);
  EXPECT_EQ(large.batch.tokens, 4096);
  EXPECT_GT(large.epochs, chosen(kMiniLm).epochs);  // for as many steps

  TrainConfig parts;
  parts.model.from = "folder";
  parts.batch.accumulate = 4;
  choose_recipe(parts, kMiniLm);
  EXPECT_EQ(parts.batch.tokens, 576 / 4);
  EXPECT_EQ(parts.epochs, chosen(kMiniLm).epochs);

  TrainConfig rows;
  rows.model.from = "folder";
  rows.batch.sequences = 16;
  choose_recipe(rows, kMiniLm);
  EXPECT_EQ(rows.batch.tokens, 16 * 80);  // any 16 rows fit

  TrainConfig unjudged;
  unjudged.model.from = "folder";
  RunSize without_dev = kMiniLm;
  without_dev.judged = false;
  EXPECT_EQ(choose_recipe(unjudged, without_dev).find("patience"), std::string::npos);
  EXPECT_EQ(unjudged.evaluate.patience, 0);

  TrainConfig steps;
  steps.model.from = "folder";
  steps.max_steps = 10000;
  choose_recipe(steps, kMiniLm);
  EXPECT_GE(steps_of(steps, kMiniLm), 10000);
}

TEST(Recipe, OddSizesAreNoTrouble) {
  const RunSize odd[] = {{.samples = 1, .tokens = 1, .longest = 1, .hidden_size = 1, .layers = 1},
                         {.samples = 1, .tokens = 100'000, .longest = 100'000, .hidden_size = 100'000, .layers = 500}};
  for (const RunSize& size : odd) {
    for (const bool from_nothing : {false, true}) {
      TrainConfig config;
      if (!from_nothing) config.model.from = "folder";
      config.batch.accumulate = 1 << 20;
      choose_recipe(config, size);
      EXPECT_GE(config.batch.tokens, 1);
      EXPECT_GE(config.epochs, 1);
      EXPECT_GT(config.optimizer.learning_rate, 0);
    }
  }
}

}  // namespace
}  // namespace heed

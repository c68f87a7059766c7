#include "heed/tasks/masked_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/engine/load.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

// A text of one token: hidden, it is what fill_mask guesses.
TEST(MaskedScore, IsTheLossOfFillMask) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), Head::masked_lm, {"LABEL_0"});
  const TextPipeline model = load(folder.path());
  const auto guesses = model.fill_mask({"[MASK]"}, 1000)[0][0];
  double expected = 0;
  for (const FilledMask& guess : guesses) {
    if (guess.token_text == "fox") expected = -std::log(static_cast<double>(guess.score));
  }
  const MaskedScore score = masked_score(model.model(), {"fox"});
  EXPECT_EQ(score.tokens, 1u);
  EXPECT_NEAR(score.loss, expected, 1e-5);
  EXPECT_EQ(score.right, guesses[0].token_text == "fox" ? 1u : 0u);
}

TEST(MaskedScore, DependsOnTheTextAlone) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), Head::masked_lm, {"LABEL_0"});
  const TextPipeline model = load(folder.path());
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "the quick brown fox ";
  const std::vector<std::string> texts = {"the lazy dog jumps", longer, "in berlin", ""};
  const MaskedScore all = masked_score(model.model(), texts);
  double sum = 0;
  std::size_t tokens = 0;
  for (const std::string& text : texts) {
    const MaskedScore one = masked_score(model.model(), {text});
    sum += one.loss;
    tokens += one.tokens;
  }
  EXPECT_NEAR(all.loss, sum, 1e-9);
  EXPECT_EQ(all.tokens, tokens);
  // 240 tokens in windows of 38: six of 38, with six hidden each, and one of twelve, with two; one each of the short.
  EXPECT_EQ(tokens, 6u * 6 + 2 + 1 + 1);
  EXPECT_NE(masked_score(model.model(), {longer}, 0.15, 2).loss, masked_score(model.model(), {longer}).loss);
  test::error_of(ErrorKind::invalid_argument, [&] { masked_score(model.model(), {"a"}, 0); });
}

}  // namespace
}  // namespace heed

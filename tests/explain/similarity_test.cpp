#include "heed/explain/similarity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/explain/words.h"
#include "heed/tasks/similarity.h"
#include "support/random_model.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Every way of adding it up is the cosine that similarity() finds by its own code.
void expect_exact(const LoadedModel& model, const std::string& a, const std::string& b) {
  const SimilarityExplanation found = explain_similarity(model, a, b);
  const auto cosine = static_cast<double>(similarity(model, a, {b}).front());
  EXPECT_NEAR(found.cosine, cosine, 1e-6);
  EXPECT_NEAR(total(found.matrix.to_vector<double>()), cosine, 1e-5);
  EXPECT_NEAR(total(found.token_sums(0)), cosine, 1e-5);
  EXPECT_NEAR(total(found.token_sums(1)), cosine, 1e-5);
  const Tensor words = found.word_matrix();
  EXPECT_NEAR(total(words.to_vector<double>()), cosine, 1e-5);
  const auto rows = sums_of_words(found.token_sums(0), found.texts[0].words);
  ASSERT_EQ(words.size(0), static_cast<std::int64_t>(rows.size()));
  for (std::int64_t i = 0; i < words.size(0); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < words.size(1); ++j) sum += words.at({i, j});
    EXPECT_NEAR(sum, rows[static_cast<std::size_t>(i)], 1e-9);
  }
}

TEST(ExplainSimilarity, MatrixSumsToTheCosine) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {"a"});
  const LoadedModel model(folder.path(), 512);
  expect_exact(model, "the quick foxgang", "a lazy dog in berlin");
  expect_exact(model, "the fox", "the fox");
}

TEST(ExplainSimilarity, OtherPoolingsByIntegratedGradients) {
  const test::TempFolder folder;
  test::write_random_model(folder.path(), HeadKind::none, {"a"});
  const LoadedModel model(folder.path(), 512);
  for (const char* pooling : {"cls", "max"}) {
    const SimilarityExplanation found =
        explain_similarity(model, "the quick foxgang", "a lazy dog", {.pooling = pooling});
    EXPECT_FALSE(found.matrix.defined());
    ASSERT_TRUE(found.attributions);
    EXPECT_NEAR(found.cosine,
                static_cast<double>(similarity(model, "the quick foxgang", {"a lazy dog"}, {.pooling = pooling})[0]),
                1e-6);
    for (const Attribution& side : *found.attributions) {
      EXPECT_NEAR(side.score, found.cosine, 1e-5);
      double moved = 0;
      for (const double each : side.tokens) moved += std::abs(each);
      EXPECT_GT(moved, 0);
      EXPECT_LT(std::abs(side.gap()), 0.05 * moved);
    }
  }
}

TEST(ExplainReal, MiniLmSimilarity) {
  const auto folder = test::shared_data("weights/minilm");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model(folder, 512);
  expect_exact(model, "A kitten sleeps on the warm sofa.", "The cat is napping on a couch.");
  expect_exact(model, "The invoice is overdue.", "Photosynthesis feeds the plants.");
  const SimilarityExplanation found = explain_similarity(model, "A kitten sleeps", "The cat is napping");
  const Tensor words = found.word_matrix();  // kitten meets cat more than it meets "is"
  ASSERT_EQ(found.texts[0].words[2].text, "kitten");
  ASSERT_EQ(found.texts[1].words[2].text, "cat");
  EXPECT_GT(words.at({2, 2}), words.at({2, 3}));
}

}  // namespace
}  // namespace heed

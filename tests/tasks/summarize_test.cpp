#include "heed/tasks/summarize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/engine/load.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/sentence_centrality.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

std::vector<std::vector<float>> random_units(std::size_t count, std::size_t width) {
  std::vector<std::vector<float>> vectors;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> vector;
    double squares = 0;
    for (std::size_t c = 0; c < width; ++c) {
      vector.push_back(static_cast<float>(normal(8, i, c) + 0.3));
      squares += vector.back() * vector.back();
    }
    for (float& value : vector) value /= static_cast<float>(std::sqrt(squares));
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

// The walk solved as linear equations, time = (1 - damping) prior + damping links^T time, by elimination.
std::vector<double> solved(const std::vector<std::vector<float>>& vectors, const CentralityOptions& options) {
  const std::size_t n = vectors.size();
  std::vector<double> prior(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += prior[i] = 1 + options.lead * std::exp(-double(i) / options.lead_reach);
  std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1, 0));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> links(n, 0);
    double all = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double cosine = 0;
      for (std::size_t c = 0; c < vectors[i].size(); ++c) cosine += double(vectors[i][c]) * double(vectors[j][c]);
      if (i != j && cosine > options.threshold) all += links[j] = cosine;
    }
    EXPECT_GT(all, 0);
    for (std::size_t j = 0; j < n; ++j) rows[j][i] -= options.damping * links[j] / all;
    rows[i][i] += 1;
    rows[i][n] = (1 - options.damping) * prior[i] / sum;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const double factor = rows[j][i] / rows[i][i];
      for (std::size_t c = i; c <= n; ++c) rows[j][c] -= factor * rows[i][c];
    }
  }
  std::vector<double> scores;
  for (std::size_t i = 0; i < n; ++i) scores.push_back(rows[i][n] / rows[i][i] * static_cast<double>(n));
  return scores;
}

TEST(SentenceCentrality, IsTheSolutionOfTheWalk) {
  const auto vectors = random_units(12, 6);
  for (const double damping : {0.0, 0.35, 0.85}) {
    const CentralityOptions options{.damping = damping, .threshold = 0.0, .lead = 2, .lead_reach = 3};
    const auto found = sentence_centrality(vectors, options), expected = solved(vectors, options);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
  }
}

TEST(SentenceCentrality, WithoutLinksThePriorDecides) {
  const std::vector<std::vector<float>> vectors = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto scores = sentence_centrality(vectors, {.lead = 0});
  for (const double score : scores) EXPECT_NEAR(score, 1, 1e-9);
  EXPECT_TRUE(sentence_centrality({}).empty());
}

TEST(SentenceCentrality, ChosenSentencesAreNotAlike) {
  const std::vector<std::vector<float>> vectors = {{1, 0}, {1, 0}, {0, 1}};
  const std::vector<double> scores = {1.2, 1.1, 0.9};
  EXPECT_EQ(choose_sentences(vectors, scores, 2), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(choose_sentences(vectors, scores, 2, {.redundancy = 0}), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(choose_sentences(vectors, scores, 9).size(), 3u);
  EXPECT_TRUE(choose_sentences({}, {}, 3).empty());
}

TEST(SentenceCentrality, LongDocumentsTakeLinearTime) {
  const auto vectors = random_units(5000, 8);
  const auto scores = sentence_centrality(vectors);
  ASSERT_EQ(scores.size(), 5000u);
  double sum = 0;
  for (const double score : scores) sum += score;
  EXPECT_NEAR(sum, 5000, 1e-3);
}

class SummarizeTest : public testing::Test {
 protected:
  SummarizeTest() { test::write_random_model(folder_.path(), HeadKind::none, {}, 3); }
  test::TempFolder folder_;
  const std::string document_ =
      "The fox jumps. A lazy dog é sleeps in berlin! The quick fox? Bees hum.\n\nThe brown dog.";
};

TEST_F(SummarizeTest, SentencesInTheirOrderWithTheirPlaces) {
  const LoadedModel model = load(folder_.path());
  const Summary summary = summarize(model, {document_}, {.sentences = 3})[0];
  ASSERT_EQ(summary.sentences.size(), 3u);
  std::string joined;
  std::int64_t at = 0;
  for (const SummarySentence& each : summary.sentences) {
    EXPECT_GE(each.start, at);
    at = each.end;
    EXPECT_EQ(static_cast<std::int64_t>(utf8_length(each.text)), each.end - each.start);
    const std::size_t byte = document_.find(each.text);
    EXPECT_EQ(static_cast<std::int64_t>(utf8_length(std::string_view(document_).substr(0, byte))), each.start);
    EXPECT_GT(each.score, 0);
    joined += (joined.empty() ? "" : " ") + each.text;
  }
  EXPECT_EQ(summary.summary, joined);
}

TEST_F(SummarizeTest, HowMany) {
  const LoadedModel model = load(folder_.path());
  const auto count = [&](const SummarizeOptions& options) {
    return summarize(model, {document_}, options)[0].sentences.size();
  };
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({.sentences = 100}), 5u);
  EXPECT_EQ(count({.share = 0.4}), 2u);
  EXPECT_EQ(count({.share = 0.01}), 1u);
  EXPECT_THROW(count({.sentences = 1, .share = 0.5}), Error);
  const Summary lead = summarize(model, {document_}, {.method = "lead", .sentences = 2})[0];
  EXPECT_EQ(lead.summary, "The fox jumps. A lazy dog é sleeps in berlin!");
}

TEST_F(SummarizeTest, DocumentsOfAllKinds) {
  const LoadedModel model = load(folder_.path());
  std::string wordy;
  for (int i = 0; i < 300; ++i) wordy += "fox dog, ";
  const auto summaries = summarize(
      model, {"", " \n ", "今天很好。明天呢？后天也好！", wordy, "The fox was\tin\nberlin."}, {.sentences = 2});
  EXPECT_EQ(summaries[0].summary, "");
  EXPECT_TRUE(summaries[1].sentences.empty());
  EXPECT_EQ(summaries[2].sentences.size(), 2u);
  EXPECT_EQ(summaries[2].summary, summaries[2].sentences[0].text + summaries[2].sentences[1].text)
      << "no space between";
  EXPECT_EQ(summaries[3].sentences.size(), 1u) << "longer than the model allows, and nothing was cut";
}

TEST_F(SummarizeTest, SameBitsAloneInBatchesAndOnThreadsParallel) {
  const LoadedModel model = load(folder_.path());
  const LoadedModel small(folder_.path(), 24);  // tokens per batch
  const std::vector<std::string> documents = {document_, "A dog. The fox. A bee.",
                                              document_ + " The end of it. In berlin."};
  const auto scores = [](const std::vector<Summary>& summaries) {
    std::vector<double> all;
    for (const Summary& summary : summaries) {
      for (const SummarySentence& each : summary.sentences) all.push_back(each.score);
    }
    return all;
  };
  const auto together = scores(summarize(model, documents));
  std::vector<double> alone;
  for (const std::string& document : documents) {
    for (const double score : scores(summarize(model, {document}))) alone.push_back(score);
  }
  EXPECT_EQ(together, alone);
  EXPECT_EQ(together, scores(summarize(small, documents)));
  const ThreadLimit one(1);
  EXPECT_EQ(together, scores(summarize(model, documents)));
}

TEST_F(SummarizeTest, Json) {
  const LoadedModel model = load(folder_.path());
  const std::vector<Json> requests = {{{"text", document_}}};
  const Json answer = run_task(model, "summarize", requests, {{"sentences", 1}})[0];
  ASSERT_EQ(answer.size(), 2u);
  const Json& sentence = answer.at("sentences").at(0);
  EXPECT_EQ(answer.at("summary"), sentence.at("text"));
  EXPECT_TRUE(sentence.at("start").is_number_integer() && sentence.at("end").is_number_integer());
  EXPECT_TRUE(sentence.at("score").is_number_float());
  EXPECT_THROW(run_task(model, "summarize", requests, {{"method", "best"}}), Error);
  EXPECT_THROW(run_task(model, "summarize", requests, {{"share", 2}}), Error);
  EXPECT_THROW(run_task(model, "summarize", requests, {{"sentences", 0}}), Error);
}

}  // namespace
}  // namespace heed

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/classify.h"
#include "heed/metrics/ranking.h"
#include "support/error_of.h"
#include "support/torch.h"

namespace heed {
namespace {

// Answers of sklearn_answers.py.
std::vector<Json> ask(const std::vector<Json>& questions) {
  const test::TempFolder folder;
  const auto asked = folder.write("questions.json", Json(questions).dump()), answered = folder.path() / "answers.json";
  EXPECT_EQ(test::run_python("metrics/sklearn_answers.py " + asked.string() + " " + answered.string()), 0);
  const Json answers = parse_json(read_file(answered, 1 << 24), "answers.json");
  return {answers.begin(), answers.end()};
}

class MetricsOfSklearn : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_python_modules("sklearn, scipy")) {
      GTEST_SKIP() << "/usr/bin/python3 has no sklearn (Debian package python3-sklearn): nothing to compare with";
    }
  }
};

Labels random_labels(RandomStream& random, std::size_t count, std::uint64_t classes) {
  static const Labels names = {
      "good", "bad", "B", "a much longer name of a class", "ünïcödé", "0", "10", "2", "x", "class y", "class z", "七"};
  Labels labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(names[random.uniform_integer(classes)]);
  return labels;
}

TEST_F(MetricsOfSklearn, ReportsHaveTheSameText) {
  RandomStream random{.seed = 11};
  std::vector<Json> questions;
  for (int i = 0; i < 300; ++i) {
    const std::size_t count = 1 + random.uniform_integer(i % 3 == 0 ? 6 : 200);
    const std::uint64_t classes = 1 + random.uniform_integer(12);
    Labels expected = random_labels(random, count, classes), found = random_labels(random, count, classes);
    for (std::size_t j = 0; j < count; ++j) {
      // At least one is right: scikit-learn 1.2 prints the support as 1.0 instead of 1 where none is.
      if (j == 0 || random.uniform_integer(2) == 0) found[j] = expected[j];
    }
    questions.push_back({{"kind", "labels"}, {"expected", expected}, {"found", found}, {"digits", 1 + i % 14}});
  }
  const auto answers = ask(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto expected = questions[i]["expected"].get<Labels>(), found = questions[i]["found"].get<Labels>();
    ASSERT_EQ(classification_report(expected, found).text(questions[i]["digits"].get<int>()), answers[i]["text"]);
    const ConfusionMatrix matrix = confusion_matrix(expected, found);
    ASSERT_EQ(Json(matrix.counts), answers[i]["matrix"]);
    ASSERT_DOUBLE_EQ(matrix.accuracy(), answers[i]["accuracy"].get<double>());
    ASSERT_NEAR(matrix.matthews(), answers[i]["matthews"].get<double>(), 1e-12);
  }
}

TEST_F(MetricsOfSklearn, ReportsOfSeveralLabelsHaveTheSameText) {
  RandomStream random{.seed = 12};
  std::vector<Json> questions;
  for (int i = 0; i < 100; ++i) {
    const std::size_t count = 1 + random.uniform_integer(60);
    const std::uint64_t classes = 2 + random.uniform_integer(10);
    std::vector<Labels> expected, found;
    for (std::size_t j = 0; j < count; ++j) {
      expected.push_back(random_labels(random, random.uniform_integer(4), classes));
      found.push_back(random.uniform_integer(2) ? expected.back()
                                                : random_labels(random, random.uniform_integer(4), classes));
    }
    expected.push_back({"good", "bad"});
    found.push_back({"good"});
    questions.push_back({{"kind", "label sets"}, {"expected", expected}, {"found", found}, {"digits", 2 + i % 6}});
  }
  const auto answers = ask(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ScoreReport report = classification_report(questions[i]["expected"].get<std::vector<Labels>>(),
                                                     questions[i]["found"].get<std::vector<Labels>>());
    ASSERT_EQ(report.text(questions[i]["digits"].get<int>()), answers[i]["text"]);
    ASSERT_DOUBLE_EQ(report.average("micro").f1, answers[i]["micro"].get<double>());
    ASSERT_DOUBLE_EQ(report.average("macro").f1, answers[i]["macro"].get<double>());
  }
}

TEST_F(MetricsOfSklearn, CorrelationAndRanking) {
  RandomStream random{.seed = 13};
  std::vector<Json> questions;
  for (int i = 0; i < 50; ++i) {
    std::vector<double> x, y, gains;
    for (std::uint64_t count = 4 + random.uniform_integer(100); count-- > 0;) {
      x.push_back(random.normal());
      y.push_back(x.back() + static_cast<double>(random.uniform_integer(5)));  // whole numbers tie below
      gains.push_back(static_cast<double>(random.uniform_integer(4)));
    }
    gains[0] = 1;
    questions.push_back({{"kind", "ranking"}, {"scores", x}, {"gains", gains}});
    if (i % 2 == 0) {
      for (double& value : y) value = std::round(value);
    }
    questions.push_back({{"kind", "correlation"}, {"x", x}, {"y", y}});
  }
  const auto answers = ask(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto values = [&](const char* name) { return questions[i][name].get<std::vector<double>>(); };
    const auto answer = [&](const char* name) { return answers[i][name].get<double>(); };
    if (questions[i]["kind"] == "correlation") {
      ASSERT_NEAR(pearson(values("x"), values("y")), answer("pearson"), 1e-12);
      ASSERT_NEAR(spearman(values("x"), values("y")), answer("spearman"), 1e-12);
    } else {
      const auto ranked = in_ranked_order(values("scores"), values("gains"));
      ASSERT_NEAR(average_precision(ranked), answer("average precision"), 1e-12);
      ASSERT_NEAR(average_precision(ranked), answer("label ranking"), 1e-12);
      ASSERT_NEAR(ndcg(ranked), answer("ndcg"), 1e-12);
      ASSERT_NEAR(ndcg(ranked, 3), answer("ndcg at 3"), 1e-12);
    }
  }
}

TEST(Metrics, RankingByHand) {
  const std::vector<double> ranked = {0, 0, 1, 0, 1};
  EXPECT_DOUBLE_EQ(reciprocal_rank(ranked), 1.0 / 3);
  EXPECT_DOUBLE_EQ(average_precision(ranked), (1.0 / 3 + 2.0 / 5) / 2);
  EXPECT_EQ(reciprocal_rank(std::vector<double>{0, 0}), 0);
  EXPECT_EQ(average_ranks(std::vector<double>{3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
  EXPECT_DOUBLE_EQ(perplexity(std::log(8.0) * 10, 10), 8);
  EXPECT_TRUE(std::isnan(pearson(std::vector<double>{1, 1}, std::vector<double>{1, 2})));
  test::error_of(ErrorKind::invalid_argument, [] { pearson(std::vector<double>{1.0}, std::vector<double>{1.0}); });
  test::error_of(ErrorKind::invalid_argument, [] { classification_report(Labels{"a"}, Labels{}); });
}

TEST(Metrics, AConfusionPictureHasALineForEachLabel) {
  const ConfusionMatrix matrix = confusion_matrix({"cat", "cat", "cat", "dog"}, {"cat", "cat", "dog", "dog"});
  EXPECT_EQ(matrix.picture(), "cat      3  ▓▒   66 %   most often taken for dog (1)\ndog      1  ·█  100 %\n");
}

// Of SQuAD's evaluation script, worked out by hand.
TEST(Metrics, AnswersAreComparedAsSquadDoes) {
  EXPECT_EQ(normalized_answer("The  U.S.A.'s \t\"Army\", an army", AnswerRule::words), "usas army army");
  EXPECT_EQ(normalized_answer("An other theatre—the end", AnswerRule::words), "other theatre— end");
  EXPECT_EQ(normalized_answer("ÉCOLE", AnswerRule::words), "école");
  const auto scores = [](const char* found, const std::vector<std::string>& right) {
    const AnswerScores both = answer_scores(found, right);
    return std::pair(both.exact, both.f1);
  };
  EXPECT_EQ(scores("the Denver Broncos", {"Denver Broncos", "Broncos"}), std::pair(1.0, 1.0));
  EXPECT_EQ(scores("Broncos of Denver", {"Denver Broncos"}), std::pair(0.0, 0.8));
  EXPECT_EQ(scores("to to be", {"to be"}), std::pair(0.0, 0.8));
  EXPECT_EQ(scores("", {}), std::pair(1.0, 1.0));
  EXPECT_EQ(scores("something", {}), std::pair(0.0, 0.0));
  EXPECT_EQ(scores("", {"something"}), std::pair(0.0, 0.0));

  const AnswerReport report = answer_report({"x y", "", "z"}, {{"x"}, {}, {}});
  EXPECT_EQ(report.questions, 3u);
  EXPECT_EQ(report.without_answer, 2u);
  EXPECT_DOUBLE_EQ(report.exact, 1.0 / 3);
  EXPECT_DOUBLE_EQ(report.answerable.f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(report.unanswerable.exact, 0.5);
}

TEST(Metrics, ChineseAnswersAreComparedByCharacters) {
  EXPECT_EQ(answer_words("《跑跑》在 NBA2K，19年", AnswerRule::characters),
            (std::vector<std::string>{"跑", "跑", "在", "nba2k19", "年"}));
  EXPECT_EQ(answer_scores("光荣和ω-force", {"光荣和ωforce。"}, AnswerRule::characters).exact, 1);
  // The longest run both have is two of three and two of four characters.
  EXPECT_DOUBLE_EQ(answer_scores("北京市", {"在北京中"}, AnswerRule::characters).f1,
                   2 * (2.0 / 3) * (2.0 / 4) / (2.0 / 3 + 2.0 / 4));
}

}  // namespace
}  // namespace heed

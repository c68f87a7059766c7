// Every answer recorded in suites/rouge of the shared data is that of rouge-score, and of ROUGE-1.5.5 where it says so.
#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/data/line_file.h"
#include "heed/metrics/porter_stemmer.h"
#include "heed/metrics/rouge.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

constexpr double kTolerance = 1e-9;

// The lines after the first, if that is about the suite.
std::vector<Json> cases_of(const std::filesystem::path& file) {
  detail::LineFile lines(file);
  std::vector<Json> cases;
  while (lines.skip_blank_lines()) {
    Json each = parse_json(lines.line(), file.string());
    if (!each.contains("meta")) cases.push_back(std::move(each));
  }
  return cases;
}

std::vector<std::string> texts_of(const Json& value) {
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector{value.get<std::string>()};
}

std::vector<RougeScore> scores_of(const RougeOptions& options, const Json& pair) {
  const std::vector<std::string> texts = texts_of(pair["target"]);
  const std::vector<std::string_view> references(texts.begin(), texts.end());
  return Rouge(options).score(pair["prediction"].get<std::string>(), references);
}

void expect_score(const RougeScore& found, const Json& expected, double tolerance) {
  EXPECT_NEAR(found.precision, expected[0].get<double>(), tolerance);
  EXPECT_NEAR(found.recall, expected[1].get<double>(), tolerance);
  EXPECT_NEAR(found.fmeasure, expected[2].get<double>(), tolerance);
}

class RougeSuite : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = test::shared_data("suites/rouge");
    if (!std::filesystem::exists(folder / "scores.jsonl")) GTEST_SKIP() << folder << " is not there";
    scores_ = cases_of(folder / "scores.jsonl");
    parts_ = cases_of(folder / "parts.jsonl");
    corpus_ = cases_of(folder / "corpus_1000.jsonl");
    expected_ = parse_json(read_file(folder / "corpus.expected.json", 1 << 20), "corpus.expected.json");
    EXPECT_FALSE(scores_.empty() || parts_.empty() || corpus_.empty());
  }

  std::vector<Json> scores_, parts_, corpus_;
  Json expected_;
};

TEST_F(RougeSuite, ScoresAreThose) {
  for (const Json& recorded : scores_) {
    SCOPED_TRACE(recorded.dump().substr(0, 600));
    if (recorded["kind"] == "rouge155") {
      const RougeOptions options{.types = {recorded["rouge"]}, .use_stemmer = recorded["stem"]};
      const Json& pair = corpus_.at(recorded["line"].get<std::size_t>());
      expect_score(scores_of(options, pair)[0], {recorded["precision"], recorded["recall"], recorded["fmeasure"]},
                   5e-5);
      continue;
    }
    ASSERT_EQ(recorded["kind"], "score");
    const auto types = recorded["rouge_types"].get<std::vector<std::string>>();
    const auto found = scores_of({.types = types, .use_stemmer = recorded["use_stemmer"]}, recorded);
    for (std::size_t i = 0; i < types.size(); ++i) {
      SCOPED_TRACE(types[i]);
      expect_score(found[i], recorded["expected"][types[i]], kTolerance);
    }
  }
}

TEST_F(RougeSuite, PartsAreThose) {
  const auto numbers_of = [](const Json& list, std::map<std::string, std::uint32_t>& known) {
    std::vector<std::uint32_t> numbers;
    for (const Json& item : list) {
      numbers.push_back(known.try_emplace(item.dump(), static_cast<std::uint32_t>(known.size())).first->second);
    }
    return numbers;
  };
  for (const Json& recorded : parts_) {
    if (recorded["kind"] == "porter_stem") {
      // Shorter words are not stemmed.
      const std::string word = recorded["word"];
      EXPECT_EQ(word.size() > 3 ? porter_stem(word) : word, recorded["expected"].get<std::string>()) << recorded;
    } else if (recorded["kind"] == "tokenize") {
      EXPECT_EQ(rouge_words(recorded["text"].get<std::string>(), recorded["use_stemmer"]),
                recorded["expected"].get<std::vector<std::string>>())
          << recorded;
    } else {
      ASSERT_EQ(recorded["kind"], "lcs");
      std::map<std::string, std::uint32_t> known;
      const auto reference = numbers_of(recorded["ref"], known), candidate = numbers_of(recorded["candidate"], known);
      const auto places = common_subsequence(reference, candidate);
      EXPECT_EQ(places.size(), recorded["expected"].get<std::size_t>()) << recorded;
      EXPECT_EQ(places, recorded["indices"].get<std::vector<std::size_t>>()) << recorded;
    }
  }
}

TEST_F(RougeSuite, MeansOfACorpus) {
  for (const auto& [name, stem] : {std::pair("no_stem", false), {"stem", true}}) {
    const RougeOptions options{.types = {"rouge1", "rouge2", "rougeL"}, .use_stemmer = stem};
    std::vector<RougeScore> sums(options.types.size());
    for (const Json& pair : corpus_) {
      const auto scores = scores_of(options, pair);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i].precision += scores[i].precision / static_cast<double>(corpus_.size());
        sums[i].recall += scores[i].recall / static_cast<double>(corpus_.size());
        sums[i].fmeasure += scores[i].fmeasure / static_cast<double>(corpus_.size());
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      SCOPED_TRACE(options.types[i] + " " + name);
      expect_score(sums[i], expected_["mean"][name][options.types[i]], kTolerance);
    }
  }
}

// The perl program draws other samples; rouge-score's own test allows 0.002 too.
TEST_F(RougeSuite, ConfidenceIsNearThatOfPerl) {
  const auto check = [&](const char* name, const RougeOptions& options) {
    std::vector<std::vector<RougeScore>> scores;
    for (const Json& pair : corpus_) scores.push_back(scores_of(options, pair));
    const RougeConfidence found = rouge_confidence(scores, 1000, 12345)[0];
    const Json& expected = expected_["rouge155_confidence"][name];
    const RougeScore* bounds[] = {&found.low, &found.mid, &found.high};
    for (std::size_t i = 0; i < 3; ++i) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(i));
      expect_score(*bounds[i], {expected["p"][i], expected["r"][i], expected["f"][i]}, 2e-3);
    }
  };
  check("rouge1_no_stem", {.types = {"rouge1"}});
  check("rouge1_stem", {.types = {"rouge1"}, .use_stemmer = true});
  check("rougeL_stem", {.types = {"rougeL"}, .use_stemmer = true});
}

// As nltk.stem.PorterStemmer().stem() has them, one for each rule and extension.
TEST(PorterStemmer, WordsOfEachRule) {
  const std::pair<const char*, const char*> cases[] = {{"skies", "sky"},
                                                       {"dying", "die"},
                                                       {"news", "news"},
                                                       {"outings", "outing"},
                                                       {"succeed", "succeed"},
                                                       {"caresses", "caress"},
                                                       {"ponies", "poni"},
                                                       {"ties", "tie"},
                                                       {"caress", "caress"},
                                                       {"cats", "cat"},
                                                       {"feed", "feed"},
                                                       {"agreed", "agre"},
                                                       {"plastered", "plaster"},
                                                       {"bled", "bled"},
                                                       {"motoring", "motor"},
                                                       {"sing", "sing"},
                                                       {"conflated", "conflat"},
                                                       {"troubled", "troubl"},
                                                       {"sized", "size"},
                                                       {"hopping", "hop"},
                                                       {"falling", "fall"},
                                                       {"hissing", "hiss"},
                                                       {"fizzed", "fizz"},
                                                       {"failing", "fail"},
                                                       {"filing", "file"},
                                                       {"happy", "happi"},
                                                       {"sky", "sky"},
                                                       {"enjoy", "enjoy"},
                                                       {"spied", "spi"},
                                                       {"died", "die"},
                                                       {"relational", "relat"},
                                                       {"conditional", "condit"},
                                                       {"rational", "ration"},
                                                       {"valenci", "valenc"},
                                                       {"digitizer", "digit"},
                                                       {"radically", "radic"},
                                                       {"vietnamization", "vietnam"},
                                                       {"operator", "oper"},
                                                       {"hopefulness", "hope"},
                                                       {"callousness", "callous"},
                                                       {"sensibiliti", "sensibl"},
                                                       {"geology", "geolog"},
                                                       {"thankfully", "thank"},
                                                       {"triplicate", "triplic"},
                                                       {"formative", "form"},
                                                       {"electrical", "electr"},
                                                       {"goodness", "good"},
                                                       {"revival", "reviv"},
                                                       {"adjustable", "adjust"},
                                                       {"replacement", "replac"},
                                                       {"adoption", "adopt"},
                                                       {"homologou", "homolog"},
                                                       {"probate", "probat"},
                                                       {"rate", "rate"},
                                                       {"cease", "ceas"},
                                                       {"controll", "control"},
                                                       {"roll", "roll"},
                                                       {"yyyy", "yyyi"},
                                                       {"on", "on"}};
  for (const auto& [word, stem] : cases) EXPECT_EQ(porter_stem(word), stem) << word;
}

TEST(Rouge, ChineseCharactersAreWordsIfAsked) {
  EXPECT_EQ(rouge_words("他在 NBA2K，19年！", false), (std::vector<std::string>{"nba2k", "19"}));
  EXPECT_EQ(rouge_words("他在 NBA2K，19年！", false, true),
            (std::vector<std::string>{"他", "在", "nba2k", "19", "年"}));
  const std::string_view reference = "北京市在哪里";
  const Rouge rouge({.types = {"rouge1", "rougeL"}, .characters = true});
  const auto scores = rouge.score("北京在哪", std::span(&reference, 1));
  EXPECT_DOUBLE_EQ(scores[0].precision, 1);
  EXPECT_DOUBLE_EQ(scores[1].recall, 4.0 / 6);
  EXPECT_DOUBLE_EQ(Rouge().score("北京在哪", std::span(&reference, 1))[0].fmeasure, 0);
}

TEST(Rouge, WhatDoesNotFitIsRefused) {
  for (const char* type : {"rouge0", "rouge10", "rouge", "bleu", "rougel"}) {
    test::error_of(ErrorKind::invalid_argument, [&] { Rouge({.types = {type}}); });
  }
  test::error_of(ErrorKind::invalid_argument, [] { Rouge({.types = {}}); });
  test::error_of(ErrorKind::invalid_argument, [] { Rouge().score("a", {}); });
  test::error_of(ErrorKind::invalid_argument, [] { rouge_confidence({}, 1000, 1); });
}

}  // namespace
}  // namespace heed

// Every call recorded in suites/sacrebleu of the shared data gives what sacrebleu gave.
#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/data/line_file.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/significance.h"
#include "heed/metrics/ter.h"
#include "heed/metrics/words.h"
#include "support/shared_data.h"

namespace heed {
namespace {

constexpr double kTolerance = 1e-9;

// The lines of a suite after the first, which is about it.
std::vector<Json> cases_of(const std::filesystem::path& file) {
  detail::LineFile lines(file);
  std::vector<Json> cases;
  lines.line();
  while (lines.skip_blank_lines()) cases.push_back(parse_json(lines.line(), file.string()));
  return cases;
}

// Options of sacrebleu by the names that ours have; null stands for the default.
template <class Options>
Options options_of(const Json& params) {
  Options options;
  Fields fields = options.fields();
  for (const auto& [name, value] : params.items()) {
    if (name != "force" && name != "references" && !value.is_null()) set_field(fields, name, value, "params");
  }
  return options;
}

std::unique_ptr<CorpusMetric> metric_of(const Json& recorded) {
  const Json& params = recorded["params"];
  if (recorded["metric"] == "bleu") return std::make_unique<Bleu>(options_of<BleuOptions>(params));
  if (recorded["metric"] == "chrf") return std::make_unique<Chrf>(options_of<ChrfOptions>(params));
  if (recorded["metric"] == "ter") return std::make_unique<Ter>(options_of<TerOptions>(params));
  throw std::runtime_error("unknown metric " + recorded["metric"].dump());
}

References references_of(const Json& list) {
  References lines;
  for (const Json& line : list) lines.push_back(line.is_null() ? std::nullopt : std::optional(line.get<std::string>()));
  return lines;
}

void expect_near(const Json& found, const Json& expected, const std::string& what) {
  if (expected.is_array()) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (std::size_t i = 0; i < expected.size(); ++i) expect_near(found[i], expected[i], what);
  } else {
    EXPECT_NEAR(found.get<double>(), expected.get<double>(), kTolerance) << what;
  }
}

void expect_details(Json found, double score, const Json& expected) {
  found["score"] = score;
  for (const auto& [name, value] : expected.items()) {
    ASSERT_TRUE(found.contains(name)) << name;
    expect_near(found[name], value, name);
  }
}

void check_case(const Json& recorded) {
  if (recorded["kind"] == "statistics") {
    const auto options = options_of<BleuOptions>(recorded["params"]);
    const BleuScore score = bleu_score({.prediction_length = recorded["sys_len"],
                                        .reference_length = recorded["ref_len"],
                                        .correct = recorded["correct"],
                                        .total = recorded["total"]},
                                       options);
    expect_near(score.score, recorded["expected"]["score"], "score");
    expect_near(score.precisions, recorded["expected"]["precisions"], "precisions");
    expect_near(score.brevity_penalty, recorded["expected"]["bp"], "bp");
    return;
  }
  const auto metric = metric_of(recorded);
  Lines predictions;
  std::vector<References> references;
  if (recorded["kind"] == "sentence") {
    predictions = {recorded["hypothesis"].get<std::string>()};
    for (const auto& line : references_of(recorded["references"])) references.push_back({line});
  } else {
    ASSERT_EQ(recorded["kind"], "corpus");
    predictions = recorded["hypotheses"].get<Lines>();
    for (const Json& list : recorded["references"]) references.push_back(references_of(list));
  }
  const auto sums = corpus_numbers(*metric, predictions, references).sums();
  expect_details(metric->details(sums), metric->score(sums), recorded["expected"]);
}

TEST(SacrebleuSuite, ScoresAreThose) {
  const auto file = test::shared_data("suites/sacrebleu/scores.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const auto cases = cases_of(file);
  EXPECT_FALSE(cases.empty());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + ": " + cases[i].dump().substr(0, 600));
    check_case(cases[i]);
  }
}

TEST(SacrebleuSuite, TextsAreCutThere) {
  const auto file = test::shared_data("suites/sacrebleu/tokenizers.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const auto cases = cases_of(file);
  EXPECT_FALSE(cases.empty());
  for (const Json& recorded : cases) {
    const std::string tokenizer = recorded["tokenizer"], text = recorded["text"];
    const std::string found = tokenizer == "ter" ? ter_text(text, options_of<TerOptions>(recorded["params"]))
                                                 : bleu_tokenizer(tokenizer)(strip_right(text));
    EXPECT_EQ(found, recorded["expected"].get<std::string>()) << recorded;
  }
}

// The systems of WMT17, English to German.
class Wmt17 : public testing::Test {
 protected:
  void SetUp() override {
    const auto table = test::shared_data("suites/sacrebleu/wmt17_en_de.tsv.gz");
    if (!std::filesystem::exists(table)) GTEST_SKIP() << table << " is not there";
    detail::LineFile lines(table);
    const auto columns = [&] {
      std::vector<std::string> parts;
      const std::string_view line = lines.line();
      for (std::size_t begin = 0; begin <= line.size();) {
        const std::size_t end = std::min(line.find('\t', begin), line.size());
        parts.emplace_back(line.substr(begin, end - begin));
        begin = end + 1;
      }
      return parts;
    };
    const std::vector<std::string> names = columns();
    while (!lines.at_end()) {
      const auto parts = columns();
      ASSERT_EQ(parts.size(), names.size());
      for (std::size_t i = 0; i < names.size(); ++i) texts_[names[i]].push_back(parts[i]);
    }
    const auto file = test::shared_data("suites/sacrebleu/wmt17_en_de.expected.json");
    expected_ = parse_json(read_file(file, 1 << 20), file.string());
  }
  CorpusNumbers numbers(const CorpusMetric& metric, const std::string& system) const {
    const Lines& right = texts_.at("reference");
    return corpus_numbers(metric, texts_.at(system), {References(right.begin(), right.end())});
  }
  double score(const CorpusMetric& metric, const std::string& system) const {
    return metric.score(numbers(metric, system).sums());
  }

  std::map<std::string, Lines> texts_;
  Json expected_;
};

TEST_F(Wmt17, ScoresOfSystems) {
  for (const Json& system : expected_["systems"]) {
    const std::string name = system["system"];
    EXPECT_NEAR(score(Bleu({.tokenize = "none"}), name), system["bleu_none"].get<double>(), kTolerance) << name;
    EXPECT_NEAR(score(Bleu(), name), system["bleu_13a"].get<double>(), kTolerance) << name;
    EXPECT_NEAR(score(Chrf(), name), system["chrf2"].get<double>(), kTolerance) << name;
  }
}

// Of Moses with 2,000 samples and MultEval with 10,000, which sacrebleu is to agree with within 0.01.
TEST_F(Wmt17, SignificanceIsThatOfMosesAndMulteval) {
  const Bleu bleu({.tokenize = "none"});
  const CorpusNumbers baseline = numbers(bleu, expected_["baseline"]);
  for (const Json& system : expected_["systems"]) {
    if (system["moses_bootstrap_p"].is_null()) continue;
    const CorpusNumbers other = numbers(bleu, system["system"]);
    EXPECT_NEAR(paired_bootstrap(bleu, baseline, other, 2000, 12345).p_value, system["moses_bootstrap_p"].get<double>(),
                1e-2)
        << system;
    EXPECT_NEAR(paired_randomization(bleu, baseline, other, 10000, 12345).p_value,
                system["multeval_ar_p_bleu_ter"][0].get<double>(), 1e-2)
        << system;
  }
}

// As the README of sacrebleu prints them: the samples are those of NumPy, so p-values are the same in every digit.
TEST_F(Wmt17, SignificanceIsThatOfSacrebleu) {
  const Bleu bleu;
  const Chrf chrf;
  const auto compared = [&](const CorpusMetric& metric, const std::string& system, const auto& test,
                            std::int64_t samples) {
    return test(metric, numbers(metric, "newstest2017.LIUM-NMT.4900.en-de"), numbers(metric, system), samples, 12345);
  };
  const std::string a = "newstest2017.online-A.0.en-de", b = "newstest2017.online-B.0.en-de";
  const PairedResult bleu_b = compared(bleu, b, paired_bootstrap, 1000);
  EXPECT_NEAR(bleu_b.p_value, 0.3077, 5e-5);
  EXPECT_NEAR(bleu_b.confidence->mean, 26.6, 0.05);
  EXPECT_NEAR(bleu_b.confidence->half, 0.7, 0.05);
  EXPECT_NEAR(compared(chrf, b, paired_bootstrap, 1000).p_value, 0.0240, 5e-5);
  EXPECT_NEAR(compared(bleu, a, paired_bootstrap, 1000).p_value, 0.0010, 5e-5);
  EXPECT_NEAR(compared(bleu, b, paired_randomization, 10000).p_value, 0.8066, 5e-5);
  EXPECT_NEAR(compared(chrf, b, paired_randomization, 10000).p_value, 0.0385, 5e-5);
  EXPECT_NEAR(compared(bleu, a, paired_randomization, 10000).p_value, 0.0001, 5e-5);
  // Its example of --confidence is the system C-3MA.
  const std::string c = "newstest2017.C-3MA.4959.en-de";
  const Confidence of_bleu = bootstrap_confidence(bleu, numbers(bleu, c), 1000, 12345);
  EXPECT_NEAR(of_bleu.mean, 22.669, 5e-4);
  EXPECT_NEAR(of_bleu.half, 0.598, 5e-4);
  const Confidence of_chrf = bootstrap_confidence(chrf, numbers(chrf, c), 1000, 12345);
  EXPECT_NEAR(of_chrf.mean, 51.953, 5e-4);
  EXPECT_NEAR(of_chrf.half, 0.462, 5e-4);
}

}  // namespace
}  // namespace heed

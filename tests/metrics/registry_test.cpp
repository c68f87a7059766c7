// The table of metrics: what files become, what is wrong with them, and that every metric and option is documented.
#include "heed/metrics/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/file.h"
#include "heed/base/random.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

MetricResult run(const char* name, const std::vector<MetricFile>& predictions,
                 const std::vector<MetricFile>& references, const Json& options = Json::object()) {
  return run_metric(metric_named(name), {predictions, references}, options);
}

std::string refused(const char* name, const std::vector<MetricFile>& predictions,
                    const std::vector<MetricFile>& references, const Json& options = Json::object(),
                    ErrorKind kind = ErrorKind::bad_format) {
  return test::error_of(kind, [&] { run(name, predictions, references, options); });
}

void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(MetricTable, TranslationsPrintWhatSacrebleuPrints) {
  const MetricFile out{"out.txt", "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n"};
  const MetricFile first{"a.txt", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n"};
  const MetricFile second{"b.txt", "The dog had bit the man.\nNo one was surprised.\nThe man had bitten the dog.\n"};
  const MetricResult result = run("bleu", {out}, {first, second});
  EXPECT_EQ(result.text,
            "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 48.5 82.4/50.0/45.5/37.5 (BP = 0.943 "
            "ratio = 0.944 hyp_len = 17 ref_len = 18)\n");
  EXPECT_EQ(result.json["metric"], "bleu");
  EXPECT_NEAR(result.json["score"].get<double>(), 48.530827009929865, 1e-9);
  EXPECT_EQ(result.json["counts"].dump(), "[14,7,5,3]");
  const MetricResult lines = run("bleu", {out}, {first, second}, {{"sentence", true}, {"digits", 2}});
  EXPECT_EQ(lines.json["sentences"].size(), 3u);
  EXPECT_TRUE(lines.text.starts_with("BLEU|nrefs:2|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = 100.00 "));
  const MetricResult short_one = run("chrf", {out}, {first}, {{"word_order", 2}, {"short_signature", true}});
  EXPECT_TRUE(short_one.text.starts_with("chrF2++|#:1|c:mixed|e:yes|nc:6|nw:2|s:no|v:2.6.0 = ")) << short_one.text;
  const MetricResult ter = run("ter", {out}, {first}, {{"confidence", true}, {"samples", 100}});
  EXPECT_TRUE(ter.text.starts_with("TER|nrefs:1|bs:100|seed:12345|case:lc|tok:tercom|")) << ter.text;
  expect_says(ter.text, " (μ = ");
}

TEST(MetricTable, SystemsAreComparedWithTheFirst) {
  const MetricFile a{"a", "the cat sat on the mat\na dog ran in the park\n"};
  const MetricFile b{"b", "a cat is on the mat\nthe dog walked in a park\n"};
  const MetricFile right{"right", "the cat sat on the mat\na dog ran in the park\n"};
  for (const char* test : {"bs", "ar"}) {
    const MetricResult result = run("chrf", {a, b, a}, {right}, {{"paired", test}, {"samples", 50}});
    ASSERT_EQ(result.json["systems"].size(), 2u);
    EXPECT_FALSE(result.json["systems"][0].contains("p_value"));
    EXPECT_TRUE(result.json["systems"][1].contains("p_value"));
    EXPECT_EQ(result.json["systems"][1].contains("confidence"), test == std::string("bs"));
    expect_says(result.text, "baseline");
  }
  EXPECT_EQ(run("bleu", {a, b, a}, {right}).json["systems"].size(), 3u);
  const auto invalid = ErrorKind::invalid_argument;
  expect_says(refused("bleu", {a}, {right}, {{"paired", "bs"}}, invalid), "more than one file of predictions");
  expect_says(refused("bleu", {a, b}, {right}, {{"sentence", true}}, invalid), "one file of predictions");
  refused("bleu", {a}, {right}, {{"sentence", true}, {"confidence", true}}, invalid);
  refused("rouge", {a, b}, {right}, {}, invalid);
  refused("bleu", {a}, {}, {}, invalid);
}

TEST(MetricTable, LabelsTagsAndNumbers) {
  const MetricResult labels = run("classification", {{"p", "a\nb\r\na\n"}},
                                  {{"r",
                                    "\xEF\xBB\xBF"
                                    "a\nb\nb\n"}});
  EXPECT_NEAR(labels.json["accuracy"].get<double>(), 2.0 / 3, 1e-12);
  expect_says(labels.text, "precision    recall  f1-score   support");
  const MetricResult sets = run("classification", {{"p", "a, b\n\n"}}, {{"r", "a\n\n"}}, {{"separator", ","}});
  EXPECT_NEAR(sets.json["f1_micro"].get<double>(), 2.0 / 3, 1e-12);
  const MetricResult tags =
      run("seqeval", {{"p", "B-A I-A O\nB-B\n"}}, {{"r.conll", "x B-A\ny I-A\nz O\n\n-DOCSTART- O\n\nw B-C\n"}});
  EXPECT_NEAR(tags.json["f1"].get<double>(), 0.5, 1e-12);
  const MetricResult numbers = run("correlation", {{"p", "1\n2\n4\n"}}, {{"r", "1\n2\n3\n"}});
  EXPECT_NEAR(numbers.json["spearman"].get<double>(), 1, 1e-12);
  const MetricResult ranking = run("ranking", {{"p", "0.1 0.9 0.5\n1 2\n"}}, {{"r", "1 0 0\n0 1\n"}});
  EXPECT_NEAR(ranking.json["mrr"].get<double>(), (1.0 / 3 + 1) / 2, 1e-12);
  EXPECT_TRUE(ranking.json.contains("ndcg@10"));
}

TEST(MetricTable, SummariesHaveSentences) {
  const MetricFile found{"p.jsonl", "\"a b c.\\nd e f.\"\n"}, right{"r", "d e f.<n>a b c.\n"};
  const MetricResult result = run("rouge", {found}, {right}, {{"newline", "<n>"}});
  EXPECT_NEAR(result.json["rougeLsum"]["fmeasure"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(result.json["rougeL"]["fmeasure"].get<double>(), 0.5, 1e-12);
  const MetricResult range = run("rouge", {found}, {right}, {{"confidence", true}, {"types", {"rouge1"}}});
  EXPECT_TRUE(range.json["confidence"]["rouge1"].contains("low"));
  EXPECT_EQ(run("rouge", {found}, {right}, {{"sentence", true}}).json["sentences"].size(), 1u);
}

constexpr const char* kQuestions =
    R"({"data": [{"paragraphs": [{"context": "c", "qas": [
       {"id": "1", "question": "?", "answers": [{"text": "the fox", "answer_start": 0}]},
       {"id": "2", "question": "?", "answers": [], "is_impossible": true},
       {"id": "3", "question": "?", "answers": [{"text": "北京", "answer_start": 0}]}]}]}]})";

TEST(MetricTable, Answers) {
  const MetricFile questions{"dev.json", kQuestions};
  const MetricResult squad = run("squad", {{"p.json", R"({"1": "fox", "2": ""})"}}, {questions});
  EXPECT_EQ(squad.json["exact"], 100);
  EXPECT_EQ(squad.json["total"], 2);
  EXPECT_EQ(squad.json["NoAns_total"], 1);
  EXPECT_EQ(squad.json["missing"], 1);
  const MetricResult chinese = run("cmrc2018", {{"p.json", R"({"3": "在北京"})"}}, {questions});
  EXPECT_NEAR(chinese.json["F1"].get<double>(), 80.0 / 3, 1e-9);
  EXPECT_EQ(chinese.json["SKIP"], 2);
}

TEST(MetricTable, WhatIsWrongWithFilesIsSaid) {
  const MetricFile three{"three.txt", "1\n2\n3\n"}, two{"two.txt", "1\n2"}, none{"none.txt", ""};
  for (const char* name : {"bleu", "chrf", "ter", "rouge", "classification", "seqeval", "correlation", "ranking"}) {
    const std::string message = refused(name, {three}, {two});
    expect_says(message, "three.txt: has 3 ");
    expect_says(message, "two.txt 2;");
    expect_says(refused(name, {none}, {two}), "none.txt: is empty");
    expect_says(refused(name, {{"bad.txt", "1\n\xFF\n"}}, {two}), "bad.txt:2: byte 0");
  }
  for (const char* name : {"squad", "cmrc2018"}) {
    const MetricFile questions{"dev.json", kQuestions};
    for (const char* text : {"", "[]", "{", "{\"4\": \"x\"}", "{\"1\": 1}", "\xFF"}) {
      expect_says(refused(name, {{"answers.json", text}}, {questions}), "answers.json");
    }
    for (const char* text :
         {"", "[]", "{}", "{\"data\": 1}", "{\"data\": []}", "{\"data\": [{\"paragraphs\": [1]}]}"}) {
      expect_says(refused(name, {{"answers.json", "{\"1\": \"x\"}"}}, {{"dev.json", text}}), "dev.json");
    }
  }
  expect_says(refused("correlation", {{"p", "1\nx\n"}}, {two}), "p:2: \"x\" is not a number");
  expect_says(refused("ranking", {{"p", "1\n1 2\n"}}, {two}), "p:2: has 2 scores, and two.txt 1 gains");
  expect_says(refused("seqeval", {{"p", "O\nO O\n"}}, {{"r", "O\nO\n"}}), "p: sentence 2 has 2 tags, and r 1;");
  expect_says(refused("bleu", {{"p.jsonl", "1\n"}}, {two}), "p.jsonl:1");
  expect_says(test::error_of(ErrorKind::invalid_argument, [] { metric_named("blue"); }), "did you mean bleu?");
  refused("bleu", {two}, {two}, {{"no_such", 1}});
}

// Any bytes: a result or an error that heed knows, never anything else.
TEST(MetricTable, AnyBytesAreScoredOrRefused) {
  RandomStream random{.seed = 31};
  const auto bytes = [&] {
    static const std::vector<std::string> parts = {"a", "B-A ", "\n",  "1 ", ".",    "\xFF", "\"", "{",  "}",  "O ",
                                                   ":", "[",    "中 ", "é",  "\xE4", "-1e9", "\t", "\r", "\\", "nan "};
    std::string text;
    for (std::uint64_t n = random.uniform_integer(40); n > 0; --n) text += parts[random.uniform_integer(parts.size())];
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string found = bytes(), right = random.uniform_integer(2) ? found : bytes();
    for (const Metric* metric : metrics()) {
      try {
        run_metric(*metric, {{{"p.txt", found}}, {{"r.txt", right}}}, Json::object());
      } catch (const Error& error) {
        ASSERT_NE(error.kind(), ErrorKind::internal) << error.what();
      }
    }
  }
}

TEST(MetricTable, IsDocumented) {
  const std::string page = read_file(test::tests_folder().parent_path() / "docs/metrics.md", 1 << 20);
  std::set<std::string> names;
  for (const Metric* metric : metrics()) {
    EXPECT_TRUE(names.insert(metric->name).second) << metric->name;
    expect_says(page, "### `heed metrics " + metric->name + "`");
    expect_says(page, metric->example);
  }
}

}  // namespace
}  // namespace heed

// Every call recorded in suites/seqeval of the shared data gives what seqeval gave.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "heed/base/file.h"
#include "heed/metrics/entities.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

// Python writes NaN and Infinity, which JSON has not.
Json parse_case(std::string line, const std::string& where) {
  const std::pair<std::string, std::string> spellings[] = {{": NaN", ": null"}, {": Infinity", ": \"inf\""}};
  for (const auto& [word, instead] : spellings) {
    for (std::size_t at; (at = line.find(word)) != std::string::npos;) line.replace(at, word.size(), instead);
  }
  return parse_json(line, where);
}

using Sequences = std::vector<Tags>;

EntityOptions options_of(const Json& recorded) {
  const Json& named = recorded["kwargs"];
  EntityOptions options{.suffix = named.value("suffix", false)};
  if (named.contains("beta")) options.beta = named["beta"].is_string() ? INFINITY : named["beta"].get<double>();
  const bool strict =
      recorded["fn"].get<std::string>().starts_with("v1.") || (named.contains("mode") && named["mode"] == "strict");
  if (strict && named.contains("scheme")) {
    std::string scheme = named["scheme"];
    for (char& c : scheme) c = static_cast<char>(std::tolower(c));
    options.scheme = tag_scheme_named(scheme);
  } else if (strict) {
    options.scheme = detect_scheme(recorded["args"][0].get<Sequences>());
  }
  return options;
}

void expect_same(double found, const Json& recorded) {
  if (recorded.is_null()) {
    EXPECT_TRUE(std::isnan(found)) << found;
  } else {
    EXPECT_DOUBLE_EQ(found, recorded.get<double>());
  }
}

// [precision, recall, F, support], each a list without averaging.
void expect_scores(const ScoreReport& report, const Json& average, const Json& recorded) {
  if (!average.is_null()) {
    const Scores& scores = report.average(average.get<std::string>());
    expect_same(scores.precision, recorded[0]);
    expect_same(scores.recall, recorded[1]);
    expect_same(scores.f1, recorded[2]);
    EXPECT_EQ(scores.support, recorded[3]);
    return;
  }
  ASSERT_EQ(report.classes.size(), recorded[0].size());
  for (std::size_t i = 0; i < report.classes.size(); ++i) {
    expect_same(report.classes[i].precision, recorded[0][i]);
    expect_same(report.classes[i].recall, recorded[1][i]);
    expect_same(report.classes[i].f1, recorded[2][i]);
    EXPECT_EQ(report.classes[i].support, recorded[3][i]);
  }
}

void expect_dictionary(const ScoreReport& report, const Json& recorded) {
  const auto expect_row = [&](const Scores& scores, const std::string& name) {
    const Json& row = recorded.at(name);
    expect_same(scores.precision, row["precision"]);
    expect_same(scores.recall, row["recall"]);
    expect_same(scores.f1, row["f1-score"]);
    EXPECT_EQ(scores.support, row["support"]);
  };
  EXPECT_EQ(report.classes.size() + 3, recorded.size());
  for (const Scores& scores : report.classes) expect_row(scores, scores.name);
  for (const Scores& scores : report.averages) expect_row(scores, scores.name + " avg");
}

void check_entities(const Json& recorded) {
  Json found = Json::array();
  if (recorded["fn"] == "get_entities") {
    Tags tags;
    for (const Json& item : recorded["args"][0]) {
      if (item.is_string()) tags.push_back(item);
      if (!item.is_array()) continue;
      for (const Json& tag : item) tags.push_back(tag);
      tags.emplace_back("O");
    }
    const bool suffix = recorded["args"].size() > 1 && recorded["args"][1] == true;
    for (const TaggedEntity& each : entities_of(tags, {.suffix = suffix})) {
      found.push_back({each.type, each.begin, each.end - 1});
    }
  } else {
    std::string scheme = recorded["scheme"];
    for (char& c : scheme) c = static_cast<char>(std::tolower(c));
    for (const TaggedEntity& each : entities_of(recorded["tokens"].get<Tags>(), {.scheme = tag_scheme_named(scheme)})) {
      found.push_back({each.begin, each.end, each.type});
    }
  }
  EXPECT_EQ(found, recorded["result"]);
}

void check_labels(const Json& recorded) {
  std::set<std::string> types;
  for (const std::size_t side : {0, 1}) {
    for (const Tags& tags : recorded["args"][side].get<Sequences>()) {
      for (const TaggedEntity& each : entities_of(tags, {.scheme = TagScheme::iob2})) types.insert(each.type);
    }
  }
  EXPECT_EQ(Json(types), recorded["result"]);
}

void check_report(const Json& recorded) {
  const auto expected = recorded["args"][0].get<Sequences>(), found = recorded["args"][1].get<Sequences>();
  const EntityOptions options = options_of(recorded);
  const std::string function = recorded["fn"];
  const Json average = recorded["kwargs"].value("average", Json("micro"));
  if (recorded.contains("raises")) {
    test::error_of(ErrorKind::invalid_argument,
                   [&] { entity_report(expected, found, options).average(average.get<std::string>()); });
    return;
  }
  const Json& result = recorded["result"];
  if (function == "accuracy_score") return expect_same(tag_accuracy(expected, found), result);
  const ScoreReport report = entity_report(expected, found, options);
  if (function.ends_with("precision_recall_fscore_support")) return expect_scores(report, average, result);
  if (function == "precision_score") return expect_same(report.average("micro").precision, result);
  if (function == "recall_score") return expect_same(report.average("micro").recall, result);
  if (function.ends_with("classification_report")) {
    if (result.is_object()) return expect_dictionary(report, result);
    EXPECT_EQ(report.text(2), result.get<std::string>());
    return;
  }
  ASSERT_EQ(function, "f1_score");
  if (average.is_null()) {
    ASSERT_EQ(report.classes.size(), result.size());
    for (std::size_t i = 0; i < result.size(); ++i) expect_same(report.classes[i].f1, result[i]);
  } else {
    expect_same(report.average(average.get<std::string>()).f1, result);
  }
}

TEST(SeqevalSuite, EveryRecordedCall) {
  const auto file = test::shared_data("suites/seqeval/cases.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  std::istringstream lines(read_file(file, 1 << 24));
  int calls = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json recorded = parse_case(line, "cases.jsonl:" + std::to_string(++calls));
    SCOPED_TRACE(line.substr(0, 400));
    const std::string function = recorded["fn"];
    if (function == "get_entities" || function == "Tokens.entities") {
      check_entities(recorded);
    } else if (function == "v1.unique_labels") {
      check_labels(recorded);
    } else {
      check_report(recorded);
    }
  }
  EXPECT_EQ(calls, 209);
  RecordProperty("comparisons", calls);
}

// Prefixes that a strict scheme does not have are mistakes, not words outside.
TEST(Entities, StrictSchemesRefuseWhatBreaksThem) {
  test::error_of(ErrorKind::invalid_argument, [] { entities_of({"S-PER"}, {.scheme = TagScheme::iob2}); });
  test::error_of(ErrorKind::invalid_argument, [] { entities_of({""}); });
  EXPECT_EQ(entities_of({"S-PER"}).size(), 1u);
  // The type may not change inside, which no recorded call tries.
  EXPECT_TRUE(entities_of({"B-A", "I-A", "I-B", "E-B"}, {.scheme = TagScheme::iobes}).empty());
  EXPECT_EQ(detect_scheme({{"O", "B-X", "E-X"}}), TagScheme::iobes);
  EXPECT_EQ(detect_scheme({{"U-X"}}), TagScheme::bilou);
  EXPECT_EQ(detect_scheme({{"O"}}), TagScheme::iob2);
}

}  // namespace
}  // namespace heed

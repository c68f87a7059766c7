#include "heed/metrics/report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// F as the ratio of what scikit-learn 1.2 and seqeval compute, in their order.
double f_score(double precision, double recall, double beta) {
  if (std::isinf(beta)) return recall;
  const double square = beta * beta, denominator = square * precision + recall;
  return denominator == 0 ? 0 : (1 + square) * precision * recall / denominator;
}

std::size_t total_support(const std::vector<Scores>& classes) {
  std::size_t support = 0;
  for (const Scores& each : classes) support += each.support;
  return support;
}

Scores macro_average(const std::vector<Scores>& classes) {
  const auto mean = [&](double Scores::*member) {
    std::vector<double> values;
    for (const Scores& each : classes) values.push_back(each.*member);
    return values.empty() ? NAN : pairwise_sum(values) / static_cast<double>(values.size());
  };
  return {"macro", mean(&Scores::precision), mean(&Scores::recall), mean(&Scores::f1), total_support(classes)};
}

Scores weighted_average(const std::vector<Scores>& classes) {
  const std::size_t support = total_support(classes);
  const auto mean = [&](double Scores::*member) {
    std::vector<double> values;
    for (const Scores& each : classes) values.push_back(each.*member * static_cast<double>(each.support));
    return support == 0 ? 0 : pairwise_sum(values) / static_cast<double>(support);
  };
  return {"weighted", mean(&Scores::precision), mean(&Scores::recall), mean(&Scores::f1), support};
}

Json scores_json(const Scores& scores) {
  return {{"precision", scores.precision}, {"recall", scores.recall}, {"f1", scores.f1}, {"support", scores.support}};
}

}  // namespace

double pairwise_sum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8, kBlock = 128;
  if (values.size() > kBlock) {
    const std::size_t half = values.size() / 2 / kLanes * kLanes;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  double sum = 0;
  std::size_t next = 0;
  if (values.size() >= kLanes) {
    double lane[kLanes] = {};
    for (; next + kLanes <= values.size(); next += kLanes) {
      for (std::size_t i = 0; i < kLanes; ++i) lane[i] += values[next + i];
    }
    sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
  for (; next < values.size(); ++next) sum += values[next];
  return sum;
}

Scores scores_of(const std::string& name, const HitCounts& counts, double beta) {
  const double precision = ratio(counts.right, counts.found), recall = ratio(counts.right, counts.expected);
  return {name, precision, recall, f_score(precision, recall, beta), counts.expected};
}

ScoreReport score_report(const std::map<std::string, HitCounts>& counts, double beta) {
  HEED_CHECK(beta >= 0, "[score_report] beta is ", beta, ", expected at least 0");
  ScoreReport report;
  HitCounts all;
  for (const auto& [name, each] : counts) {
    report.classes.push_back(scores_of(name, each, beta));
    all.right += each.right;
    all.found += each.found;
    all.expected += each.expected;
  }
  report.averages = {scores_of("micro", all, beta), macro_average(report.classes), weighted_average(report.classes)};
  return report;
}

const Scores& ScoreReport::average(std::string_view name) const {
  const auto found = std::ranges::find(averages, name, &Scores::name);
  HEED_CHECK(found != averages.end(), "[ScoreReport] there is no average \"", name, "\"");
  return *found;
}

std::string ScoreReport::text(int digits) const {
  std::size_t width = std::max<std::size_t>(std::string_view("weighted avg").size(), static_cast<std::size_t>(digits));
  for (const Scores& each : classes) width = std::max(width, utf8_length(each.name));
  std::ostringstream table;
  table << std::fixed << std::setprecision(digits);
  const auto start_line = [&](const std::string& name) {
    table << std::string(width - utf8_length(name), ' ') << name << ' ';
  };
  const auto line = [&](const std::string& name, const Scores& each) {
    start_line(name);
    for (const double value : {each.precision, each.recall, each.f1}) table << ' ' << std::setw(9) << value;
    table << ' ' << std::setw(9) << each.support << '\n';
  };
  start_line("");
  for (const char* heading : {"precision", "recall", "f1-score", "support"}) table << ' ' << std::setw(9) << heading;
  table << "\n\n";
  for (const Scores& each : classes) line(each.name, each);
  table << '\n';
  for (const Scores& each : averages) {
    if (micro_is_accuracy && each.name == "micro") {
      start_line("accuracy");
      table << std::string(20, ' ') << ' ' << std::setw(9) << each.f1 << ' ' << std::setw(9) << each.support << '\n';
    } else {
      line(each.name + " avg", each);
    }
  }
  return table.str();
}

Json to_json(const ScoreReport& report) {
  Json classes = Json::object(), averages = Json::object();
  for (const Scores& each : report.classes) classes[each.name] = scores_json(each);
  for (const Scores& each : report.averages) averages[each.name] = scores_json(each);
  Json result = {{"classes", std::move(classes)}, {"averages", std::move(averages)}};
  if (report.micro_is_accuracy) result["accuracy"] = report.average("micro").recall;
  return result;
}

}  // namespace heed

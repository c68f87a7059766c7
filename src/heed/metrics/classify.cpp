#include "heed/metrics/classify.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <set>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

template <class List>
void check_lengths(const List& expected, const List& found) {
  HEED_CHECK(expected.size() == found.size(), "[metrics] ", found.size(), " results for ", expected.size(),
             " expected ones");
}

// The mean over texts of each one's scores.
Scores samples_average(const std::vector<HitCounts>& texts) {
  std::vector<double> precision, recall, f1;
  std::size_t support = 0;
  for (const HitCounts& counts : texts) {
    const Scores scores = scores_of("", counts);
    precision.push_back(scores.precision);
    recall.push_back(scores.recall);
    f1.push_back(scores.f1);
    support += counts.expected;
  }
  const auto count = static_cast<double>(texts.size());
  return {"samples", pairwise_sum(precision) / count, pairwise_sum(recall) / count, pairwise_sum(f1) / count, support};
}

// Code points, cut to `width`, with "…" for what is cut, and spaces up to it.
std::string padded(const std::string& text, std::size_t width) {
  const std::size_t length = utf8_length(text);
  if (length <= width) return text + std::string(width - length, ' ');
  std::string cut;
  for (const CodePoint& point : Utf8View(text)) {
    if (utf8_length(cut) + 1 == width) break;
    cut += text.substr(point.offset, point.length);
  }
  return cut + "…";
}

std::string_view shade(std::size_t part, std::size_t whole) {
  if (part == 0) return "·";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.25 ? "░" : share < 0.5 ? "▒" : share < 0.75 ? "▓" : "█";
}

}  // namespace

ScoreReport classification_report(const Labels& expected, const Labels& found) {
  check_lengths(expected, found);
  std::map<std::string, HitCounts> counts;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ++counts[expected[i]].expected;
    ++counts[found[i]].found;
    if (expected[i] == found[i]) ++counts[expected[i]].right;
  }
  ScoreReport report = score_report(counts);
  report.micro_is_accuracy = true;
  return report;
}

ScoreReport classification_report(const std::vector<Labels>& expected, const std::vector<Labels>& found) {
  check_lengths(expected, found);
  std::map<std::string, HitCounts> counts;
  std::vector<HitCounts> texts;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::set<std::string> right(expected[i].begin(), expected[i].end());
    const std::set<std::string> given(found[i].begin(), found[i].end());
    HitCounts& text = texts.emplace_back(HitCounts{0, given.size(), right.size()});
    for (const std::string& label : right) ++counts[label].expected;
    for (const std::string& label : given) {
      HitCounts& count = counts[label];
      ++count.found;
      if (!right.contains(label)) continue;
      ++count.right;
      ++text.right;
    }
  }
  ScoreReport report = score_report(counts);
  report.averages.push_back(samples_average(texts));
  return report;
}

ConfusionMatrix confusion_matrix(const Labels& expected, const Labels& found) {
  check_lengths(expected, found);
  std::map<std::string, std::size_t> places;
  for (const Labels* list : {&expected, &found}) {
    for (const std::string& label : *list) places.emplace(label, 0);
  }
  ConfusionMatrix matrix;
  for (auto& [label, place] : places) {
    place = matrix.labels.size();
    matrix.labels.push_back(label);
  }
  matrix.counts.assign(places.size(), std::vector<std::size_t>(places.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) ++matrix.counts[places[expected[i]]][places[found[i]]];
  return matrix;
}

std::size_t ConfusionMatrix::total() const {
  std::size_t sum = 0;
  for (const auto& row : counts) sum = std::accumulate(row.begin(), row.end(), sum);
  return sum;
}

double ConfusionMatrix::accuracy() const {
  std::size_t right = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) right += counts[i][i];
  return counts.empty() ? 0 : static_cast<double>(right) / static_cast<double>(total());
}

double ConfusionMatrix::matthews() const {
  const auto samples = static_cast<double>(total());
  double right = 0, both = 0, expected_squares = 0, found_squares = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    double expected = 0, found = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      expected += static_cast<double>(counts[k][i]);
      found += static_cast<double>(counts[i][k]);
    }
    right += static_cast<double>(counts[k][k]);
    both += expected * found;
    expected_squares += expected * expected;
    found_squares += found * found;
  }
  const double variance = (samples * samples - expected_squares) * (samples * samples - found_squares);
  return variance <= 0 ? 0 : (right * samples - both) / std::sqrt(variance);
}

std::string ConfusionMatrix::picture() const {
  constexpr std::size_t kMostWidth = 24;
  std::size_t width = 0;
  for (const std::string& label : labels) width = std::max(width, std::min(utf8_length(label), kMostWidth));
  std::ostringstream lines;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t support = std::accumulate(counts[i].begin(), counts[i].end(), std::size_t{0});
    lines << padded(labels[i], width) << ' ' << std::setw(6) << support << "  ";
    std::size_t worst = i;
    for (std::size_t j = 0; j < labels.size(); ++j) {
      lines << shade(counts[i][j], support);
      if (j != i && counts[i][j] > 0 && (worst == i || counts[i][j] > counts[i][worst])) worst = j;
    }
    if (support > 0) lines << "  " << std::setw(3) << counts[i][i] * 100 / support << " %";
    if (worst != i) lines << "   most often taken for " << labels[worst] << " (" << counts[i][worst] << ")";
    lines << '\n';
  }
  return lines.str();
}

Json to_json(const ConfusionMatrix& matrix) {
  return {{"labels", matrix.labels}, {"counts", matrix.counts}};
}

}  // namespace heed

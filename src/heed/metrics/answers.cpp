#include "heed/metrics/answers.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/metrics/words.h"
#include "heed/text/letter_case.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

// What cmrc2018's script leaves out.
bool is_left_out(char32_t point) {
  constexpr std::u32string_view kMarks = U"-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』";
  return kMarks.find(point) != std::u32string_view::npos;
}

bool is_article(std::string_view word) {
  return word == "a" || word == "an" || word == "the";
}

// The text without characters that `drop` takes for punctuation.
template <class Drop>
std::string without(std::string_view text, const Drop& drop) {
  std::string kept;
  for (const CodePoint& point : Utf8View(text)) {
    if (!drop(point.value)) kept += text.substr(point.offset, point.length);
  }
  return kept;
}

// Articles, as whole runs of word characters, become spaces.
std::string without_articles(std::string_view text) {
  const text::PropertyTable properties;
  std::string result, word;
  const auto flush = [&] {
    result += is_article(word) ? " " : word;
    word.clear();
  };
  for (const CodePoint& point : Utf8View(text)) {
    const std::string_view character = text.substr(point.offset, point.length);
    if (properties.has(point.value, text::kIsWord)) {
      word += character;
    } else {
      flush();
      result += character;
    }
  }
  flush();
  return result;
}

std::vector<std::string> split_at_spaces(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  return {words.begin(), words.end()};
}

// Chinese characters one by one, other words whole.
std::vector<std::string> mixed_words(const std::string& text) {
  std::string spaced;
  for (const CodePoint& point : Utf8View(text)) {
    const std::string character = text.substr(point.offset, point.length);
    spaced += point.value >= 0x4E00 && point.value <= 0x9FA5 ? " " + character + " " : character;
  }
  return split_at_spaces(spaced);
}

std::size_t common_words(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::map<std::string, std::size_t> left;
  for (const std::string& word : a) ++left[word];
  std::size_t common = 0;
  for (const std::string& word : b) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return common;
}

std::size_t longest_common_run(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> lengths(b.size() + 1), next(b.size() + 1);
  std::size_t longest = 0;
  for (const std::string& word : a) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = word == b[j] ? lengths[j] + 1 : 0;
      longest = std::max(longest, next[j + 1]);
    }
    std::swap(lengths, next);
  }
  return longest;
}

double word_f1(const std::vector<std::string>& found, const std::vector<std::string>& right, AnswerRule rule) {
  if (found.empty() || right.empty()) return found.empty() && right.empty() ? 1 : 0;
  const auto common =
      static_cast<double>(rule == AnswerRule::words ? common_words(found, right) : longest_common_run(found, right));
  if (common == 0) return 0;
  const double precision = common / static_cast<double>(found.size());
  const double recall = common / static_cast<double>(right.size());
  return 2 * precision * recall / (precision + recall);
}

void add(AnswerScores& sum, const AnswerScores& scores) {
  sum.exact += scores.exact;
  sum.f1 += scores.f1;
}

AnswerScores mean(const AnswerScores& sum, std::size_t count) {
  const auto divisor = static_cast<double>(std::max<std::size_t>(count, 1));
  return {sum.exact / divisor, sum.f1 / divisor};
}

Json scores_json(const AnswerScores& scores) {
  return {{"exact", scores.exact}, {"f1", scores.f1}};
}

}  // namespace

std::string normalized_answer(std::string_view text, AnswerRule rule) {
  if (rule == AnswerRule::characters) return without(strip(text::lower(text)), is_left_out);
  const std::string kept = without(
      text::lower(text), [](char32_t point) { return point < 0x80 && std::ispunct(static_cast<int>(point)) != 0; });
  return join(split_at_spaces(without_articles(kept)), " ");
}

std::vector<std::string> answer_words(std::string_view text, AnswerRule rule) {
  const std::string normalized = normalized_answer(text, rule);
  return rule == AnswerRule::words ? split_at_spaces(normalized) : mixed_words(normalized);
}

AnswerScores answer_scores(std::string_view found, const std::vector<std::string>& right, AnswerRule rule) {
  const std::string given = normalized_answer(found, rule);
  const std::vector<std::string> given_words = answer_words(found, rule);
  AnswerScores best;
  bool answerable = false;
  for (const std::string& each : right) {
    const std::string wanted = normalized_answer(each, rule);
    if (wanted.empty()) continue;
    answerable = true;
    best.exact = std::max(best.exact, given == wanted ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, word_f1(given_words, answer_words(each, rule), rule));
  }
  if (!answerable) best.exact = best.f1 = given.empty() ? 1 : 0;
  return best;
}

AnswerReport answer_report(const std::vector<std::string>& found, const std::vector<std::vector<std::string>>& right,
                           AnswerRule rule) {
  HEED_CHECK(found.size() == right.size(), "[metrics] ", found.size(), " answers for ", right.size(), " questions");
  AnswerReport report{.questions = found.size()};
  AnswerScores all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const AnswerScores scores = answer_scores(found[i], right[i], rule);
    add(all, scores);
    add(right[i].empty() ? report.unanswerable : report.answerable, scores);
    report.without_answer += right[i].empty() ? 1 : 0;
  }
  all = mean(all, report.questions);
  report.exact = all.exact;
  report.f1 = all.f1;
  report.answerable = mean(report.answerable, report.questions - report.without_answer);
  report.unanswerable = mean(report.unanswerable, report.without_answer);
  return report;
}

Json to_json(const AnswerReport& report) {
  Json result = {{"questions", report.questions}, {"exact", report.exact}, {"f1", report.f1}};
  if (report.without_answer > 0) {
    result["answerable"] = scores_json(report.answerable);
    result["unanswerable"] = scores_json(report.unanswerable);
    result["without_answer"] = report.without_answer;
  }
  return result;
}

}  // namespace heed

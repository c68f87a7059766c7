// How well questions were answered: exact match and F1 over words, as SQuAD's evaluation script has them, or as
// cmrc2018's for Chinese.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

enum class AnswerRule {
  // SQuAD 2.0: lower case; punctuation and the articles a, an, the do not count; F1 over the words that are left. An
  // answer without words is right only if none was expected.
  words,
  // cmrc2018: lower case without punctuation; F1 over the longest run of characters (words where they are Latin) that
  // both have.
  characters,
};

struct AnswerScores {
  double exact = 0, f1 = 0;
};

// The best over the right answers; none of them means that "" is right.
AnswerScores answer_scores(std::string_view found, const std::vector<std::string>& right,
                           AnswerRule rule = AnswerRule::words);

struct AnswerReport {
  std::size_t questions = 0, without_answer = 0;
  double exact = 0, f1 = 0;  // means, 0 to 1
  // The means of the questions that have an answer, and of those that have none.
  AnswerScores answerable{}, unanswerable{};
};

AnswerReport answer_report(const std::vector<std::string>& found, const std::vector<std::vector<std::string>>& right,
                           AnswerRule rule = AnswerRule::words);
Json to_json(const AnswerReport& report);

// The steps: what is compared, and its words.
std::string normalized_answer(std::string_view text, AnswerRule rule);
std::vector<std::string> answer_words(std::string_view text, AnswerRule rule);

}  // namespace heed

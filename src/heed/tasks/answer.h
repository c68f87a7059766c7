// Extractive question answering: which words of a context answer a question. The rules are those of HuggingFace's
// question-answering pipeline, except that an answer found in two windows is listed once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

struct Question {
  std::string question, context;
};

struct Answer {
  std::string answer;
  double score = 0;
  std::int64_t start = 0, end = 0;  // characters (code points) of the context
};

struct AnswerOptions {
  std::size_t top_k = 1;
  std::size_t max_answer_tokens = 15;
  // Long contexts are read in windows of max_tokens, question included, that share `stride` tokens (at most half).
  std::size_t max_tokens = 384, stride = 128;
  // Whether "" may be the answer, for models trained on questions without one. It comes before another answer when
  // ln(its score / the other's) is above the threshold.
  bool null_answer = false;
  double null_threshold = 0;
};

// For each question its answers, best first; never none.
std::vector<std::vector<Answer>> answer(const TextModel& model, const std::vector<Question>& questions,
                                        const AnswerOptions& options = {});

// {"answer", "score", "start", "end"}; a list of them if there are several.
Json to_json(const std::vector<Answer>& answers);

// The step between logits and answers, of one window.
struct TokenSpan {
  std::size_t first = 0, last = 0;
  double score = 0;  // probability of the start times that of the end
};
struct WindowSpans {
  std::vector<TokenSpan> spans;  // at most `count`, best first
  double null_score = 0;         // of "no answer here", which the first token stands for
};
// start, end [tokens]; in_context[t]: t may be part of an answer. Only these and the first token share probability.
WindowSpans best_spans(std::span<const float> start, std::span<const float> end, const std::vector<bool>& in_context,
                       std::size_t count, std::size_t max_answer_tokens);

}  // namespace heed

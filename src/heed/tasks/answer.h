// Extractive question answering: which words of a context answer a question. The rules are those of HuggingFace's
// question-answering pipeline, except that an answer found in two windows is listed once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/tasks/loaded_model.h"

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
  std::int64_t top_k = 1;
  std::int64_t max_answer_tokens = 0;  // 0: 15, as HuggingFace; 30 where answers are scored, as SQuAD's program
  // Long contexts are read in windows of max_tokens, question included, that share `stride` tokens, at most half of
  // them. 0: 384, or what the model allows if that is less. -1: 128, or half a window if that is less. A question may
  // have half a window; in data a longer one is cut.
  std::int64_t max_tokens = 0, stride = -1;
  // Whether "" may be the answer, for models trained on questions without one. It comes before another answer when
  // ln(its score / the other's) is above the threshold.
  bool null_answer = false;
  double null_threshold = 0;
  std::string compare = "words";
  Fields fields();
};

// For each question its answers, best first; never none.
std::vector<std::vector<Answer>> answer(const LoadedModel& model, const std::vector<Question>& questions,
                                        const AnswerOptions& options = {});

const Task& answer_task();

}  // namespace heed

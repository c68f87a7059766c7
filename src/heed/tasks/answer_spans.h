// From the logits of a window to spans of its tokens that may be the answer.
#pragma once

#include <span>
#include <vector>

namespace heed {

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

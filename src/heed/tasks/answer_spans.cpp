#include "heed/tasks/answer_spans.h"

#include <algorithm>
#include <limits>

#include "heed/tasks/run_task.h"

namespace heed {
namespace {

std::vector<double> probabilities(std::span<const float> logits, const std::vector<bool>& in_context) {
  std::vector<double> values(logits.begin(), logits.end());
  for (std::size_t t = 1; t < values.size(); ++t) {
    if (!in_context[t]) values[t] = -std::numeric_limits<double>::infinity();
  }
  softmax_in_place(values);
  return values;
}

}  // namespace

WindowSpans best_spans(std::span<const float> start, std::span<const float> end, const std::vector<bool>& in_context,
                       std::size_t count, std::size_t max_answer_tokens) {
  const std::vector<double> starts = probabilities(start, in_context), ends = probabilities(end, in_context);
  WindowSpans result{.spans = {}, .null_score = starts[0] * ends[0]};
  for (std::size_t first = 1; first < starts.size(); ++first) {
    if (!in_context[first]) continue;
    for (std::size_t last = first; last < std::min(first + max_answer_tokens, ends.size()); ++last) {
      if (in_context[last]) result.spans.push_back({first, last, starts[first] * ends[last]});
    }
  }
  const auto better = [](const TokenSpan& a, const TokenSpan& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::pair(a.first, a.last) < std::pair(b.first, b.last);
  };
  count = std::min(count, result.spans.size());
  std::ranges::partial_sort(result.spans, result.spans.begin() + static_cast<std::ptrdiff_t>(count), better);
  result.spans.resize(count);
  return result;
}

}  // namespace heed

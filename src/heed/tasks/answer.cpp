#include "heed/tasks/answer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::int32_t kContext = 1;  // the sequence of the pair that is the context

std::vector<double> probabilities(std::span<const float> logits, const std::vector<bool>& in_context) {
  std::vector<double> values(logits.begin(), logits.end());
  for (std::size_t t = 1; t < values.size(); ++t) {
    if (!in_context[t]) values[t] = -std::numeric_limits<double>::infinity();
  }
  softmax_in_place(values);
  return values;
}

// The span from the beginning of the first token's word to the end of the last one's, as far as the window has them.
Answer answer_of(const std::string& context, const text::Encoding& window, const TokenSpan& span) {
  const auto same_word = [&](std::size_t a, std::size_t b) {
    return window.sequence_ids[a] == kContext && window.sequence_ids[b] == kContext &&
           window.word_ids[a] == window.word_ids[b] && window.word_ids[a] >= 0;
  };
  std::size_t first = span.first, last = span.last;
  while (first > 0 && same_word(first - 1, span.first)) --first;
  while (last + 1 < window.size() && same_word(last + 1, span.last)) ++last;
  const std::size_t begin = window.byte_offsets[first].begin, end = window.byte_offsets[last].end;
  return {context.substr(begin, end - begin), span.score, window.char_offsets[first].begin,
          window.char_offsets[last].end};
}

void add_answer(std::vector<Answer>& answers, Answer found) {
  const auto same = std::ranges::find_if(
      answers, [&](const Answer& known) { return known.start == found.start && known.end == found.end; });
  if (same == answers.end()) {
    answers.push_back(std::move(found));
  } else if (found.score > same->score) {
    *same = std::move(found);
  }
}

// Sorts, puts the empty answer in its place and keeps top_k.
void rank(std::vector<Answer>& answers, double null_score, const AnswerOptions& options) {
  std::ranges::stable_sort(answers, std::greater(), &Answer::score);
  if (options.null_answer) {
    const double needed = null_score * std::exp(-options.null_threshold);
    const auto place = std::ranges::find_if(answers, [&](const Answer& each) { return each.score < needed; });
    answers.insert(place, {.answer = "", .score = null_score});
  }
  if (answers.empty()) answers.emplace_back();
  if (answers.size() > options.top_k) answers.resize(options.top_k);
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

std::vector<std::vector<Answer>> answer(const TextModel& model, const std::vector<Question>& questions,
                                        const AnswerOptions& options) {
  model.require(Head::question_answering, "answer");
  HEED_CHECK(options.top_k > 0 && options.max_answer_tokens > 0, "[answer] top_k is ", options.top_k,
             " and max_answer_tokens ", options.max_answer_tokens, ", expected at least 1");
  std::vector<TextInput> inputs;
  inputs.reserve(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    HEED_CHECK(!questions[i].question.empty(), "[answer] question ", i, " is empty");
    HEED_CHECK(!questions[i].context.empty(), "[answer] the context of question ", i, " is empty");
    inputs.emplace_back(questions[i].question, questions[i].context);
  }
  const std::size_t length = std::min(options.max_tokens, model.max_tokens());
  const text::Truncation truncation{.max_length = length,
                                    .stride = std::min(options.stride, length / 2),
                                    .strategy = text::Truncation::Strategy::only_second};
  std::vector<std::size_t> owner;
  const auto windows = all_windows(model.encode(inputs, truncation), owner);

  // Several spans of tokens may be the same words.
  const std::size_t count = options.top_k == 1 ? 1 : options.top_k * 2 + 10;
  std::vector<WindowSpans> found(windows.size());
  model.for_each_batch(windows, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    const Tensor logits = model.encoder().forward(input, Context()).logits.contiguous();
    std::vector<float> start, end;
    std::vector<bool> in_context;
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const text::Encoding& window = windows[chosen[b]];
      const float* row = logits.data<float>() + 2 * input.ids.offsets.begin(static_cast<std::int64_t>(b));
      start.clear(), end.clear(), in_context.clear();
      for (std::size_t t = 0; t < window.size(); ++t) {
        start.push_back(row[2 * t]);
        end.push_back(row[2 * t + 1]);
        in_context.push_back(window.sequence_ids[t] == kContext);
      }
      found[chosen[b]] = best_spans(start, end, in_context, count, options.max_answer_tokens);
    }
  });

  std::vector<std::vector<Answer>> results(questions.size());
  std::vector<double> null_scores(questions.size(), 1);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t q = owner[i];
    null_scores[q] = std::min(null_scores[q], found[i].null_score);
    for (const TokenSpan& span : found[i].spans) {
      add_answer(results[q], answer_of(questions[q].context, windows[i], span));
    }
  }
  for (std::size_t q = 0; q < questions.size(); ++q) rank(results[q], null_scores[q], options);
  return results;
}

Json to_json(const std::vector<Answer>& answers) {
  Json list = Json::array();
  for (const Answer& each : answers) {
    list.push_back({{"answer", each.answer}, {"score", each.score}, {"start", each.start}, {"end", each.end}});
  }
  return list.size() == 1 ? list[0] : list;
}

}  // namespace heed

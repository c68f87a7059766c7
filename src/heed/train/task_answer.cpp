// Extractive question answering: the first and the last token of the answer. Long contexts are read in windows; one
// that does not hold the answer points at its first token.
#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/loss.h"
#include "heed/ops/shape_ops.h"
#include "heed/tasks/answer.h"
#include "heed/tasks/evaluation.h"
#include "heed/train/task.h"

namespace heed {
namespace {

constexpr std::int32_t kContext = 1;

// The best span over the windows of a question, against all answers that count as right.
class AnswerEvaluator : public Evaluator {
 public:
  AnswerEvaluator(std::size_t longest, bool null_answer, std::size_t index, const EncoderModel& model)
      : longest_(longest), null_answer_(null_answer), index_(index), model_(model) {}

  void add(const Batch& batch, const Tensor& hidden) override {
    const Offsets& offsets = batch.input.ids.offsets;
    const Tensor logits = model_.logits_of(hidden, offsets, Context());  // [N, 2]
    for (std::size_t i = 0; i < batch.samples.size(); ++i) {
      const Sample& sample = batch.samples[i];
      const Row& row = sample.rows[index_];
      if (found_.empty() || sample.number != number_) {
        number_ = sample.number;
        score_ = 0;
        found_.emplace_back();
        std::vector<std::string>& right = right_.emplace_back();
        for (const AnswerSpan& answer : row.answers) right.push_back(answer.text);
      }
      const float* first = logits.data<float>() + 2 * offsets.begin(static_cast<std::int64_t>(i));
      add_window(sample.sequences[0], first, *row.pair);
    }
  }

  Evaluation result() const override { return evaluate_answers(found_, right_); }

 private:
  void add_window(const text::Encoding& window, const float* logits, const std::string& context) {
    std::vector<float> start, end;
    std::vector<bool> in_context;
    for (std::size_t t = 0; t < window.size(); ++t) {
      start.push_back(logits[2 * t]);
      end.push_back(logits[2 * t + 1]);
      in_context.push_back(window.sequence_ids[t] == kContext && !window.special_mask[t]);
    }
    const WindowSpans spans = best_spans(start, end, in_context, 1, longest_);
    if (spans.spans.empty() || spans.spans[0].score <= score_) return;
    if (null_answer_ && spans.null_score > spans.spans[0].score) return;
    score_ = spans.spans[0].score;
    const std::size_t begin = window.byte_offsets[spans.spans[0].first].begin;
    found_.back() = context.substr(begin, window.byte_offsets[spans.spans[0].last].end - begin);
  }

  std::size_t longest_;
  bool null_answer_;
  std::size_t index_;
  const EncoderModel& model_;
  std::vector<std::string> found_;
  std::vector<std::vector<std::string>> right_;
  std::size_t number_ = 0;  // the row of the last question, and the score of its answer
  double score_ = 0;
};

class AnswerTask : public TrainTask {
 public:
  AnswerTask(const TrainConfig& config, const text::Tokenizer& tokenizer, std::size_t max_tokens)
      : TrainTask(tokenizer, std::min<std::size_t>(max_tokens, 384)),
        stride_(static_cast<std::size_t>(config.answer.stride)),
        longest_(static_cast<std::size_t>(config.answer.max_answer_tokens)),
        null_answer_(config.answer.null_answer) {}

  Head head() const override { return Head::question_answering; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row) const override {
    HEED_CHECK_AS(bad_format, row.pair.has_value(), row.file, ":", row.line, ": a question without a context");
    // A question that fills the window leaves no room: it is cut to half of it first.
    const std::string question = shortened(row.text);
    const text::Truncation rule{
        .max_length = max_tokens_, .stride = stride_, .strategy = text::Truncation::Strategy::only_second};
    return samples_of(tokenizer_.encode(question, *row.pair, {.truncation = rule}));
  }

  // classes: first and last token of the answer; 0 and 0 where the window does not hold it whole.
  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>& sequences,
                  const SampleDraw&) const override {
    Targets result{.classes = {0, 0}};
    if (row.answers.empty()) return result;
    const std::size_t begin = row.answers[0].start, end = begin + characters(row.answers[0].text);
    const text::Encoding& tokens = sequences[0];
    std::optional<std::size_t> first, last;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.sequence_ids[t] != kContext || tokens.special_mask[t]) continue;
      const text::Span place = tokens.char_offsets[t];
      if (place.begin <= begin && begin < place.end) first = t;
      if (place.begin < end && end <= place.end) last = t;
    }
    if (first && last && *first <= *last) {
      result.classes = {static_cast<std::int64_t>(*first), static_cast<std::int64_t>(*last)};
    }
    return result;
  }

  double count(const Batch& batch, std::size_t) const override { return 2 * static_cast<double>(batch.samples.size()); }

  // The tokens of a window are the classes, so each window is a softmax of its own.
  Tensor loss(const Batch& batch, std::size_t index, const EncoderModel& model, const Tensor& hidden,
              const Context& context) const override {
    const Offsets& offsets = batch.input.ids.offsets;
    const Tensor logits = model.logits_of(hidden, offsets, context);  // [N, 2]
    Tensor total;
    for (std::size_t i = 0; i < batch.samples.size(); ++i) {
      const auto b = static_cast<std::int64_t>(i);
      const Tensor window = contiguous(transpose(slice(logits, 0, offsets.begin(b), offsets.end(b)), 0, 1));
      const Tensor part = cross_entropy(window, Tensor::from(batch.samples[i].targets[index].classes, {2}),
                                        {.reduction = Reduction::sum});
      total = total.defined() ? add(total, part) : part;
    }
    return total;
  }

  std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel& model) const override {
    return std::make_unique<AnswerEvaluator>(longest_, null_answer_, index, model);
  }
  std::string main_metric() const override { return "f1"; }

 private:
  static std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }
  std::string shortened(const std::string& question) const {
    const text::Encoding tokens = tokenizer_.encode(question, {.add_special = false});
    const std::size_t most = max_tokens_ / 2;
    return tokens.size() <= most ? question : question.substr(0, tokens.byte_offsets[most].begin);
  }

  std::size_t stride_, longest_;
  bool null_answer_;
};

}  // namespace

std::unique_ptr<TrainTask> make_answer_task(const HeadPlan&, const TrainConfig& config,
                                            const text::Tokenizer& tokenizer, std::size_t max_tokens) {
  return std::make_unique<AnswerTask>(config, tokenizer, max_tokens);
}

}  // namespace heed

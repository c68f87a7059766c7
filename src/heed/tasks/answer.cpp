#include "heed/tasks/answer.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/loss.h"
#include "heed/ops/shape_ops.h"
#include "heed/tasks/answer_spans.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

constexpr std::int32_t kContext = 1;  // the sequence of the pair that is the context
constexpr std::int64_t kUsualTokens = 15, kScoredTokens = 30;
constexpr std::size_t kUsualWindow = 384, kUsualStride = 128;

std::size_t window_of(const TaskSetup& setup, const AnswerOptions& options) {
  if (options.max_tokens == 0) return std::min(setup.max_tokens, kUsualWindow);
  const auto wanted = static_cast<std::size_t>(options.max_tokens);
  HEED_CHECK(wanted <= setup.max_tokens, "[answer] max_tokens is ", wanted, ", but sequences have at most ",
             setup.max_tokens, " here");
  return wanted;
}

std::size_t stride_of(std::size_t window, const AnswerOptions& options) {
  if (options.stride < 0) return std::min(window / 2, kUsualStride);
  const auto wanted = static_cast<std::size_t>(options.stride);
  HEED_CHECK(wanted <= window / 2, "[answer] stride is ", wanted, ", but windows have ", window,
             " tokens; expected at most half of that");
  return wanted;
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

class Answered : public Finding {
 public:
  explicit Answered(const AnswerOptions& settings) : options(settings) {}

  struct Window {
    std::vector<Answer> answers{};
    double null_score = 1;
  };
  Window& window(std::size_t number) {
    if (windows.size() <= number) windows.resize(number + 1);
    return windows[number];
  }

  // Each answer once, best first, the empty one in its place, the top_k of them.
  void finish() override {
    double null_score = 1;
    for (Window& window : windows) {
      null_score = std::min(null_score, window.null_score);
      for (Answer& found : window.answers) add(std::move(found));
    }
    std::ranges::stable_sort(answers, std::greater(), &Answer::score);
    if (options.null_answer) {
      const double needed = null_score * std::exp(-options.null_threshold);
      const auto place = std::ranges::find_if(answers, [&](const Answer& each) { return each.score < needed; });
      answers.insert(place, {.answer = "", .score = null_score});
    }
    if (answers.empty()) answers.emplace_back();
    if (std::ssize(answers) > options.top_k) answers.resize(static_cast<std::size_t>(options.top_k));
  }

  Json json() const override {
    Json list = Json::array();
    for (const Answer& each : answers) {
      list.push_back({{"answer", each.answer}, {"score", each.score}, {"start", each.start}, {"end", each.end}});
    }
    return list.size() == 1 ? list[0] : list;
  }

  AnswerOptions options;
  std::vector<Window> windows{};
  std::vector<Answer> answers{};

 private:
  void add(Answer found) {
    const auto same = std::ranges::find_if(
        answers, [&](const Answer& known) { return known.start == found.start && known.end == found.end; });
    if (same == answers.end()) {
      answers.push_back(std::move(found));
    } else if (found.score > same->score) {
      *same = std::move(found);
    }
  }
};

class AnswerRun : public TrainableRun {
 public:
  AnswerRun(const TaskSetup& setup, const AnswerOptions& options)
      : TrainableRun(setup),
        options_(options),
        window_tokens_(window_of(setup, options)),
        stride_(stride_of(window_tokens_, options)) {}

  HeadKind head() const override { return HeadKind::question_answering; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    HEED_CHECK(!row.text.empty() && row.pair && !row.pair->empty(), row.file, ":", row.line, ": the ",
               row.text.empty() ? "question" : "context", " is empty");
    const std::string question = shortened(row.text);
    HEED_CHECK(purpose != Purpose::predict || question.size() == row.text.size(), row.place(),
               ": the question has more than ", window_tokens_ / 2,
               " tokens, half of a window; expected a shorter one");
    return samples_of(encoded(
        question, *row.pair,
        {.max_length = window_tokens_, .stride = stride_, .strategy = text::Truncation::Strategy::only_second}));
  }
  std::size_t cut_after(const Row& row, const std::vector<std::vector<text::Encoding>>&) const override {
    return shortened(row.text).size() < row.text.size() ? window_tokens_ / 2 : 0;
  }

  // classes: first and last token of the answer; 0 and 0 where the window does not hold it whole.
  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>& sequences,
                  const SampleDraw&) const override {
    Targets result{.classes = {0, 0}};
    if (row.answers.empty()) return result;
    const std::size_t begin = row.answers[0].start, end = begin + utf8_length(row.answers[0].text);
    const text::Encoding& tokens = sequences[0];
    std::optional<std::size_t> first, last;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.sequence_ids[t] != kContext) continue;
      const text::Span place = tokens.char_offsets[t];
      if (place.begin <= begin && begin < place.end) first = t;
      if (place.begin < end && end <= place.end) last = t;
    }
    if (first && last && *first <= *last) {
      result.classes = {static_cast<std::int64_t>(*first), static_cast<std::int64_t>(*last)};
    }
    return result;
  }

  double count(const HeadBatch& part) const override { return 2 * static_cast<double>(part.batch.samples.size()); }

  // The tokens of a window are the classes, so each window is a softmax of its own. logits [N, 2].
  Tensor loss(const HeadBatch& part) const override {
    const Offsets& offsets = part.batch.inputs.ids.offsets;
    Tensor total;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      const auto b = static_cast<std::int64_t>(i);
      const Tensor window = contiguous(transpose(slice(part.logits, 0, offsets.begin(b), offsets.end(b)), 0, 1));
      const Tensor loss =
          cross_entropy(window, Tensor::from(part.targets(i).classes, {2}), {.reduction = Reduction::sum});
      total = total.defined() ? add(total, loss) : loss;
    }
    return total;
  }

  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<Answered>(options_); }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const Tensor logits = part.logits.detached_contiguous();
    // Several spans of tokens may be the same words.
    const auto wanted = static_cast<std::size_t>(options_.top_k == 1 ? 1 : options_.top_k * 2 + 10);
    std::vector<float> start, end;
    std::vector<bool> in_context;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const Sample& sample = part.batch.samples[i];
      const text::Encoding& window = sample.sequences[0];
      const float* row = part.token_logits(i);
      start.clear(), end.clear(), in_context.clear();
      for (std::size_t t = 0; t < window.size(); ++t) {
        start.push_back(row[2 * t]);
        end.push_back(row[2 * t + 1]);
        in_context.push_back(window.sequence_ids[t] == kContext);
      }
      const WindowSpans spans = best_spans(start, end, in_context, wanted, longest(!sample.targets.empty()));
      Answered::Window& found = static_cast<Answered&>(*findings[i]).window(sample.window);
      found.null_score = spans.null_score;
      for (const TokenSpan& span : spans.spans) found.answers.push_back(answer_of(*part.row(i).pair, window, span));
    }
  }

  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    auto& right = all.expected.emplace_back();
    for (const AnswerSpan& each : row.answers) right.push_back(each.text);
    all.found.push_back({static_cast<const Answered&>(finding).answers[0].answer});
  }
  Evaluation metrics(const Comparison& all, double) const override {
    std::vector<std::string> found;
    for (const auto& each : all.found) found.push_back(each[0]);
    return evaluate_answers(found, all.expected,
                            options_.compare == "words" ? AnswerRule::words : AnswerRule::characters);
  }
  std::vector<std::string> metric_names() const override { return {"exact", "f1"}; }
  std::string main_metric() const override { return "f1"; }

 private:
  std::size_t longest(bool scored) const {
    const std::int64_t usual = scored ? kScoredTokens : kUsualTokens;
    return static_cast<std::size_t>(options_.max_answer_tokens > 0 ? options_.max_answer_tokens : usual);
  }
  // A question that fills the window leaves no room: it is cut to half of it first.
  std::string shortened(const std::string& question) const {
    const text::Encoding tokens = setup_.tokenizer.encode(question, {.add_special = false});
    const std::size_t most = window_tokens_ / 2;
    return tokens.size() <= most ? question : question.substr(0, tokens.byte_offsets[most].begin);
  }

  AnswerOptions options_;
  std::size_t window_tokens_, stride_;
};

}  // namespace

Fields AnswerOptions::fields() {
  Fields list;
  list.push_back(Field("top_k", top_k, "number of answers to give, best first; more than 1 gives a list")
                     .at_least(1)
                     .only_for(kForPredict));
  list.push_back(
      Field("max_answer_tokens", max_answer_tokens, "longest answer in tokens; 0: 15, or 30 when answers are scored")
          .at_least(0));
  list.push_back(Field("max_tokens", max_tokens,
                       "tokens of a window over a long context, question included; 0: 384, or what the model allows")
                     .where([this] { return max_tokens == 0 || max_tokens >= 16; }, "0, or at least 16"));
  list.push_back(
      Field("stride", stride, "tokens that windows over a long context share; -1: 128, or half of a small window")
          .at_least(-1));
  list.push_back(Field("null_answer", null_answer, "allow the answer \"\" if the text has none (SQuAD 2)"));
  list.push_back(
      Field("null_threshold", null_threshold, "how far the log score of \"\" must be above that of the best words")
          .only_for(kForPredict | kForEvaluate));
  list.push_back(Field("compare", compare, "compare answers by words (SQuAD) or by characters (Chinese, cmrc2018)")
                     .one_of({"words", "characters"})
                     .only_for(kForTrain | kForEvaluate));
  return list;
}

std::vector<std::vector<Answer>> answer(const LoadedModel& model, const std::vector<Question>& questions,
                                        const AnswerOptions& options) {
  model.require(answer_task());
  AnswerOptions checked = options;
  for (const Field& field : checked.fields()) field.check("[answer]");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    rows.push_back(
        {.text = questions[i].question, .pair = questions[i].context, .file = "[answer] question", .line = i});
  }
  const AnswerRun run(model.setup(), options);
  return results_of(run_task(model, run, std::move(rows)), &Answered::answers);
}

const Task& answer_task() {
  static const Task task{
      .name = "answer",
      .verb = "answer",
      .summary =
          "find the words of a text that answer a question: {\"answer\", \"score\", \"start\", \"end\"} per line",
      .example = "heed answer --model bert-squad --question \"Where does she live?\" \"Clara lives in Berkeley.\"",
      .request = {{.name = "question", .row = RowField::text, .help = "question to answer"},
                  {.name = "context", .row = RowField::pair, .help = "texts to look for the answer in"}},
      .supports = [](const Model& model) { return model.head() == HeadKind::question_answering; },
      .options = option_list<AnswerOptions>(),
      .make = make_run<AnswerRun, AnswerOptions>,
      .rows = {RowField::text, RowField::pair, RowField::answers},
      .sample_data = ".json",
      .head = HeadKind::question_answering};
  return task;
}

}  // namespace heed

#include "eval_tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "heed/base/error.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/masked_score.h"
#include "heed/tasks/metrics_ranking.h"
#include "heed/tasks/tag_words.h"

namespace heed::cli {
namespace {

std::string where(const Row& row) {
  return row.file + ":" + std::to_string(row.line);
}

std::vector<TextInput> inputs_of(const std::vector<Row>& rows) {
  std::vector<TextInput> inputs;
  for (const Row& row : rows) inputs.push_back(row.pair ? TextInput(row.text, *row.pair) : TextInput(row.text));
  return inputs;
}

// A label as the model calls it: by name, or by its number if no label has that name.
std::string model_label(const std::vector<std::string>& labels, const std::string& label, const Row& row) {
  if (std::ranges::find(labels, label) != labels.end()) return label;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool whole = error == std::errc() && end == label.data() + label.size();
  HEED_CHECK_AS(bad_format, whole && number < labels.size(), where(row), ": the label is \"", label,
                "\", which is none of the model's ", labels.size(), " labels");
  return labels[number];
}

class ClassifyEval : public TaskEval {
 public:
  explicit ClassifyEval(const EvalOptions& options) : options_(options) {}

  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    const auto found = model.classify(inputs_of(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      HEED_CHECK_AS(bad_format, rows[i].labels.size() == 1, where(rows[i]), ": has ", rows[i].labels.size(),
                    " labels, expected one; name the column with --label");
      expected_.push_back(model_label(labels_of(model.model(), found[i]), rows[i].labels[0], rows[i]));
      found_.push_back(found[i][0].label);
    }
  }
  Evaluation result() const override { return evaluate_labels(expected_, found_, options_.digits); }

 private:
  // In the model's order. Those of a next-sentence head have names of their own.
  static std::vector<std::string> labels_of(const TextModel& model, const std::vector<LabelScore>& found) {
    if (model.encoder().head() == Head::sequence_classification) return model.labels();
    std::vector<std::string> names;
    for (const LabelScore& each : found) names.push_back(each.label);
    std::ranges::sort(names);
    return names;
  }

  EvalOptions options_;
  Labels expected_, found_;
};

// Labels that stand side by side: those with a score of one half or more.
class LabelSetsEval : public TaskEval {
 public:
  explicit LabelSetsEval(const EvalOptions& options) : options_(options) {}

  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    for (const auto& scores : model.classify(inputs_of(rows))) {
      Labels& labels = found_.emplace_back();
      for (const LabelScore& each : scores) {
        if (each.score >= 0.5f) labels.push_back(each.label);
      }
    }
    for (const Row& row : rows) {
      Labels& labels = expected_.emplace_back();
      for (const std::string& label : row.labels) labels.push_back(model_label(model.model().labels(), label, row));
    }
  }
  Evaluation result() const override { return evaluate_label_sets(expected_, found_, options_.digits); }

 private:
  EvalOptions options_;
  std::vector<Labels> expected_, found_;
};

// A number for each row against its score.
class NumberEval : public TaskEval {
 public:
  Evaluation result() const override { return evaluate_numbers(expected_, found_); }

 protected:
  void expect_scores(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      HEED_CHECK_AS(bad_format, row.score, where(row), ": has no score; name its column with --score");
      expected_.push_back(*row.score);
    }
  }
  std::vector<double> expected_, found_;
};

class RegressionEval : public NumberEval {
 public:
  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    expect_scores(rows);
    for (const auto& scores : model.classify(inputs_of(rows))) found_.push_back(static_cast<double>(scores[0].score));
  }
};

class SimilarityEval : public NumberEval {
 public:
  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    expect_scores(rows);
    std::vector<std::string> texts;
    for (const Row& row : rows) {
      HEED_CHECK_AS(bad_format, row.pair, where(row), ": has no second text; name its column with --pair");
      texts.push_back(row.text);
      texts.push_back(*row.pair);
    }
    const Tensor vectors = model.embed(texts, {.normalize = true});
    const std::int64_t width = vectors.size(1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float* first = vectors.data<float>() + static_cast<std::int64_t>(2 * i) * width;
      found_.push_back(dot(first, first + width, width));
    }
  }
};

class TagEval : public TaskEval {
 public:
  explicit TagEval(const EvalOptions& options) : options_(options) {}

  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    std::vector<std::vector<std::string>> sentences;
    for (const Row& row : rows) {
      sentences.push_back(row.words);
      expected_.push_back(row.labels);
    }
    std::ranges::move(tag_words(model.model(), sentences), std::back_inserter(found_));
  }
  // A strict scheme is asked for by name; by default the tags show whether they spell entities.
  Evaluation result() const override {
    std::set<std::string> labels;
    for (const Tags& tags : expected_) labels.insert(tags.begin(), tags.end());
    const bool entities = options_.scheme != TagScheme::conll || spell_entities({labels.begin(), labels.end()});
    return evaluate_tags(expected_, found_, entities ? std::optional(options_.scheme) : std::nullopt, options_.digits);
  }

 private:
  EvalOptions options_;
  std::vector<Tags> expected_, found_;
};

class AnswerEval : public TaskEval {
 public:
  explicit AnswerEval(const EvalOptions& options) : options_(options) {}

  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    std::vector<Question> questions;
    for (const Row& row : rows) {
      questions.push_back({row.text, *row.pair});
      std::vector<std::string>& right = right_.emplace_back();
      for (const AnswerSpan& answer : row.answers) right.push_back(answer.text);
    }
    for (const auto& answers :
         model.answer(questions, {.max_answer_tokens = 30, .null_answer = options_.null_answer})) {
      found_.push_back(answers[0].answer);
    }
  }
  Evaluation result() const override { return evaluate_answers(found_, right_, options_.answers); }

 private:
  EvalOptions options_;
  std::vector<std::string> found_;
  std::vector<std::vector<std::string>> right_;
};

class MaskedEval : public TaskEval {
 public:
  explicit MaskedEval(const EvalOptions& options) : options_(options) {}

  void add(const TextPipeline& model, const std::vector<Row>& rows) override {
    std::vector<std::string> texts;
    for (const Row& row : rows) texts.push_back(row.text);
    const MaskedScore score = masked_score(model.model(), texts);
    sum_.loss += score.loss;
    sum_.tokens += score.tokens;
    sum_.right += score.right;
  }
  Evaluation result() const override {
    const double surprise = perplexity(sum_.loss, sum_.tokens);
    const double accuracy = static_cast<double>(sum_.right) / static_cast<double>(sum_.tokens);
    return {.metrics = {{"perplexity", surprise}, {"accuracy", accuracy}},
            .report = fmt::format("perplexity {:.{}f}, accuracy {:.{}f} of {} masked tokens\n", surprise,
                                  options_.digits, accuracy, options_.digits, sum_.tokens),
            .details = {{"tokens", sum_.tokens}}};
  }

 private:
  EvalOptions options_;
  MaskedScore sum_;
};

std::unique_ptr<TaskEval> make_classify(const TextModel& model, const EvalOptions& options) {
  const auto type =
      json_optional<std::string>(model.folder().config(), "problem_type", "", model.folder().config_name());
  if (type == "multi_label_classification") return std::make_unique<LabelSetsEval>(options);
  const bool number =
      model.encoder().head() == Head::sequence_classification && (type == "regression" || model.labels().size() == 1);
  if (number) return std::make_unique<RegressionEval>();
  return std::make_unique<ClassifyEval>(options);
}

}  // namespace

std::string usual_task(const TextModel& model) {
  switch (model.encoder().head()) {
    case Head::sequence_classification:
    case Head::next_sentence: return "classify";
    case Head::token_classification: return "tag";
    case Head::question_answering: return "answer";
    case Head::masked_lm: return "mlm";
    default: return "embed";
  }
}

std::unique_ptr<TaskEval> make_eval(const std::string& task, const TextModel& model, const EvalOptions& options) {
  if (task == "classify") return make_classify(model, options);
  if (task == "tag") return std::make_unique<TagEval>(options);
  if (task == "answer") return std::make_unique<AnswerEval>(options);
  if (task == "embed") return std::make_unique<SimilarityEval>();
  if (task == "mlm") return std::make_unique<MaskedEval>(options);
  fail(ErrorKind::invalid_argument, "the task is \"", task, "\", expected classify, tag, answer, embed or mlm");
}

}  // namespace heed::cli

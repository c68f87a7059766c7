#include "heed/tasks/classify.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/loss.h"
#include "heed/tasks/class_weights.h"
#include "heed/tasks/label_scores.h"
#include "heed/tasks/label_set.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

enum class Kind { one, several, number };

struct ClassifyOptions {
  std::string kind = "one";
  double label_smoothing = 0;
  std::int64_t top_k = 0;
  Json class_weights = "none";
  std::int64_t digits = 4;

  Fields fields() {
    Fields list;
    list.push_back(
        Field("kind", kind, "what a text has: one (a label), several (any number of labels) or number (a score)")
            .one_of({"one", "several", "number"})
            .only_for(kForTrain));
    list.push_back(Field("label_smoothing", label_smoothing, "share of the target that is spread over all labels")
                       .where([this] { return label_smoothing >= 0 && label_smoothing < 1; }, "0 to below 1")
                       .only_for(kForTrain));
    list.push_back(
        Field("top_k", top_k, "number of labels to give, best first; 0: all").at_least(0).only_for(kForPredict));
    list.push_back(class_weights_field(class_weights));
    list.push_back(digits_field(digits));
    return list;
  }
};

// What a model that is there already was made for; else what the options say.
Kind kind_of(const TaskSetup& setup, const ClassifyOptions& options) {
  if (setup.labels.empty()) {
    return options.kind == "number" ? Kind::number : options.kind == "several" ? Kind::several : Kind::one;
  }
  const std::string type = problem_type(setup);
  if (type == "multi_label_classification") return Kind::several;
  const bool classifier = setup.head == HeadKind::sequence_classification;
  return classifier && (type == "regression" || setup.labels.size() == 1) ? Kind::number : Kind::one;
}

LabelSet labels_of(const TaskSetup& setup) {
  if (setup.labels.empty()) return {};
  const bool next_sentence = setup.head == HeadKind::next_sentence;
  return LabelSet(next_sentence ? std::vector<std::string>{"is_next", "not_next"} : setup.labels);
}

class ScoredLabels : public Finding {
 public:
  Json json() const override { return to_json(scores); }
  std::vector<LabelScore> scores{};  // best first
};

class ClassifyRun : public TrainableRun {
 public:
  ClassifyRun(const TaskSetup& setup, const ClassifyOptions& options)
      : TrainableRun(setup),
        options_(options),
        kind_(kind_of(setup, options)),
        problem_(setup.labels.empty() ? kProblemTypes[static_cast<std::size_t>(kind_)] : problem_type(setup)),
        labels_(labels_of(setup)),
        weights_(options.class_weights) {
    HEED_CHECK(kind_ == Kind::one || !weights_.wanted(),
               "classify.class_weights are for kind \"one\", where one label is right");
  }

  HeadKind head() const override { return HeadKind::sequence_classification; }

  void learn(const Row& row) override {
    if (kind_ == Kind::number) return scores_.learn(score_of(row));
    check_labels(row);
    for (const std::string& label : row.labels) {
      labels_.learn(label);
      weights_.learn(label);
    }
  }
  void learned() const override {
    if (kind_ == Kind::number) return scores_.check();
    if (kind_ == Kind::one) labels_.check_learned();
  }
  std::vector<std::string> labels() const override {
    if (kind_ == Kind::number) return {"score"};
    return labels_.list();
  }
  void set_labels(std::vector<std::string> labels) override {
    weights_.set_labels(labels);
    labels_.set(std::move(labels));
  }
  std::vector<std::size_t> check(const Row& row) const override {
    if (kind_ == Kind::number) {
      score_of(row);
      return {};
    }
    check_labels(row);
    return labels_.unknown_labels(row);
  }

  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>&, const SampleDraw&) const override {
    if (kind_ == Kind::number) return {.values = {static_cast<float>(score_of(row))}};
    check_labels(row);
    if (kind_ == Kind::one) return {.classes = {labels_.find(row.labels[0]).value_or(kNoTarget)}};
    Targets result{.values = std::vector<float>(labels_.size(), 0.0F)};
    for (const std::string& label : row.labels) {
      if (const auto known = labels_.find(label)) result.values[static_cast<std::size_t>(*known)] = 1.0F;
    }
    return result;
  }

  double count(const HeadBatch& part) const override {
    double count = 0;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      const Targets& targets = part.targets(i);
      count += kind_ == Kind::one ? weights_.sum(targets.classes, part.training)
                                  : static_cast<double>(targets.values.size());
    }
    return count;
  }

  Tensor loss(const HeadBatch& part) const override {
    std::vector<std::int64_t> classes;
    std::vector<float> values;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      std::ranges::copy(part.targets(i).classes, std::back_inserter(classes));
      std::ranges::copy(part.targets(i).values, std::back_inserter(values));
    }
    const Tensor& logits = part.logits;  // [B, L]
    switch (kind_) {
      case Kind::one:
        return cross_entropy(logits, Tensor::from(classes, {logits.size(0)}),
                             {.ignore_index = kNoTarget,
                              .label_smoothing = options_.label_smoothing,
                              .class_weights = weights_.tensor(part.training),
                              .reduction = Reduction::sum});
      case Kind::several: return binary_cross_entropy(logits, Tensor::from(values, logits.shape()), Reduction::sum);
      case Kind::number: return mean_squared_error(logits, Tensor::from(values, logits.shape()), Reduction::sum);
    }
    fail(ErrorKind::internal, "[classify] a kind of label");
  }

  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<ScoredLabels>(); }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const std::vector<std::string> names = labels_.list();
    const auto width = static_cast<std::size_t>(part.logits.size(1));
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const auto values = label_scores(problem_, std::span(part.logits.data<float>() + i * width, width));
      auto& scores = static_cast<ScoredLabels&>(*findings[i]).scores;
      for (std::size_t label = 0; label < width; ++label) {
        scores.push_back({names[label], static_cast<float>(values[label])});
      }
      std::ranges::stable_sort(scores, std::greater(), &LabelScore::score);
      if (options_.top_k > 0) scores.resize(std::min(scores.size(), static_cast<std::size_t>(options_.top_k)));
    }
  }

  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    const auto& scores = static_cast<const ScoredLabels&>(finding).scores;
    if (kind_ == Kind::number) {
      all.expected_numbers.push_back(score_of(row));
      all.found_numbers.push_back(static_cast<double>(scores[0].score));
      return;
    }
    check_labels(row);
    auto& expected = all.expected.emplace_back();
    for (const std::string& label : row.labels) expected.push_back(labels_.name_of(label));
    auto& found = all.found.emplace_back();
    for (const LabelScore& each : scores) {
      if (kind_ == Kind::one ? found.empty() : each.score >= 0.5F) found.push_back(each.label);
    }
  }

  Evaluation metrics(const Comparison& all, double) const override {
    const auto digits = static_cast<int>(options_.digits);
    switch (kind_) {
      case Kind::one: return evaluate_labels(firsts(all.expected), firsts(all.found), digits);
      case Kind::several: return evaluate_label_sets(all.expected, all.found, digits);
      case Kind::number: return evaluate_numbers(all.expected_numbers, all.found_numbers);
    }
    return {};
  }
  std::vector<std::string> metric_names() const override {
    switch (kind_) {
      case Kind::one: return {"accuracy", "f1_macro", "f1_weighted", "matthews"};
      case Kind::several: return {"f1_micro", "f1_macro"};
      case Kind::number: return {"pearson", "spearman"};
    }
    return {};
  }
  std::string main_metric() const override {
    return kind_ == Kind::one ? "accuracy" : kind_ == Kind::several ? "f1_micro" : "spearman";
  }
  bool correlates() const override { return kind_ == Kind::number; }
  Json config_fields() const override { return {{"problem_type", problem_}}; }

 private:
  void check_labels(const Row& row) const {
    HEED_CHECK_AS(bad_format, kind_ == Kind::several || row.labels.size() == 1, row.place(), ": has ",
                  row.labels.size(), " labels, expected one; ",
                  row.labels.empty() ? "set the column that has it (data.label, --label), or that lines begin with it "
                                       "(data.label_first, --label-first)"
                                     : "set classify.kind to several for texts with any number of them");
  }
  static double score_of(const Row& row) {
    HEED_CHECK_AS(bad_format, row.score, row.place(), ": has no score; set its column (data.score, --score)");
    return *row.score;
  }
  static Labels firsts(const std::vector<std::vector<std::string>>& lists) {
    Labels labels;
    labels.reserve(lists.size());
    for (const auto& list : lists) labels.push_back(list[0]);
    return labels;
  }

  ClassifyOptions options_;
  Kind kind_;
  std::string problem_;  // as config.json calls it
  LabelSet labels_;
  ClassWeights weights_;
  ScoreRange scores_;
};

}  // namespace

std::vector<std::vector<LabelScore>> classify(const LoadedModel& model, const std::vector<TextInput>& inputs) {
  std::vector<Row> rows;
  rows.reserve(inputs.size());
  for (const TextInput& input : inputs) rows.push_back(row_of(input));
  return results_of(run_task(model, *make_task(model, classify_task()), std::move(rows)), &ScoredLabels::scores);
}

const Task& classify_task() {
  static const Task task{.name = "classify",
                         .verb = "classify",
                         .summary = "classify texts, best label first: [{\"label\", \"score\"}, ...] per line",
                         .example = "heed classify --model heed-demo/model \"my parcel is late\"",
                         .request = {{.name = "text_pair",
                                      .row = RowField::pair,
                                      .help = "second text, for models that judge pairs",
                                      .optional = true,
                                      .flag = "--pair"},
                                     {.name = "text", .row = RowField::text, .help = "texts to classify"}},
                         .supports =
                             [](const Model& model) {
                               return model.head() == HeadKind::sequence_classification ||
                                      model.head() == HeadKind::next_sentence;
                             },
                         .options = option_list<ClassifyOptions>(),
                         .make = make_run<ClassifyRun, ClassifyOptions>,
                         .rows = {RowField::text},
                         .sample_data = ".tsv",
                         .head = HeadKind::sequence_classification,
                         .shares_input = true};
  return task;
}

}  // namespace heed

// Labels of texts or pairs: one of several, any number of them, or a number (regression).
#include <algorithm>

#include "heed/base/error.h"
#include "heed/ops/loss.h"
#include "heed/tasks/evaluation.h"
#include "heed/train/label_set.h"
#include "heed/train/task.h"

namespace heed {
namespace {

enum class Kind { one, several, number };

class ClassifyEvaluator : public Evaluator {
 public:
  ClassifyEvaluator(Kind kind, const LabelSet& labels, std::size_t index, const EncoderModel& model)
      : kind_(kind), labels_(labels), index_(index), model_(model) {}

  void add(const Batch& batch, const Tensor& hidden) override {
    const Tensor logits = model_.logits_of(hidden, batch.input.ids.offsets, Context());
    const auto width = static_cast<std::size_t>(logits.size(1));
    for (std::size_t i = 0; i < batch.samples.size(); ++i) {
      const float* row = logits.data<float>() + i * width;
      const Row& truth = batch.samples[i].rows[index_];
      if (kind_ == Kind::number) {
        found_numbers_.push_back(static_cast<double>(row[0]));
        expected_numbers_.push_back(*truth.score);
        continue;
      }
      if (kind_ == Kind::one) {
        found_labels_.push_back(labels_[static_cast<std::size_t>(std::max_element(row, row + width) - row)]);
        expected_labels_.push_back(truth.labels[0]);
        continue;
      }
      Labels& found = found_sets_.emplace_back();
      for (std::size_t label = 0; label < width; ++label) {
        if (row[label] > 0) found.push_back(labels_[label]);
      }
      expected_sets_.push_back(truth.labels);
    }
  }

  Evaluation result() const override {
    switch (kind_) {
      case Kind::one: return evaluate_labels(expected_labels_, found_labels_);
      case Kind::several: return evaluate_label_sets(expected_sets_, found_sets_);
      case Kind::number: return evaluate_numbers(expected_numbers_, found_numbers_);
    }
    return {};
  }

 private:
  Kind kind_;
  const LabelSet& labels_;
  std::size_t index_;
  const EncoderModel& model_;
  // Those of the kind.
  Labels expected_labels_, found_labels_;
  std::vector<Labels> expected_sets_, found_sets_;
  std::vector<double> expected_numbers_, found_numbers_;
};

class ClassifyTask : public TrainTask {
 public:
  ClassifyTask(const HeadPlan& plan, const TrainConfig& config, const text::Tokenizer& tokenizer,
               std::size_t max_tokens)
      : TrainTask(tokenizer, max_tokens),
        kind_(plan.kind == "number"    ? Kind::number
              : plan.kind == "several" ? Kind::several
                                       : Kind::one),
        smoothing_(config.classify.label_smoothing) {}

  Head head() const override { return Head::sequence_classification; }

  void learn(const Row& row) override {
    if (kind_ == Kind::number) return;
    HEED_CHECK_AS(bad_format, kind_ == Kind::several || row.labels.size() == 1, row.file, ":", row.line, ": ",
                  row.labels.size(), " labels, expected one");
    labels_.learn(row);
  }
  std::vector<std::string> labels() const override {
    if (kind_ == Kind::number) return {"score"};
    return labels_.list();
  }
  void set_labels(std::vector<std::string> labels) override { labels_.set(std::move(labels)); }

  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>&, const SampleDraw&) const override {
    Targets result;
    if (kind_ == Kind::number) {
      HEED_CHECK_AS(bad_format, row.score.has_value(), row.file, ":", row.line, ": no score");
      result.values = {static_cast<float>(*row.score)};
    } else if (kind_ == Kind::one) {
      HEED_CHECK_AS(bad_format, row.labels.size() == 1, row.file, ":", row.line, ": ", row.labels.size(),
                    " labels, expected one");
      result.classes = {labels_.index_of(row.labels[0], row)};
    } else {
      result.values.assign(labels_.size(), 0.0f);
      for (const std::string& label : row.labels) {
        result.values[static_cast<std::size_t>(labels_.index_of(label, row))] = 1.0f;
      }
    }
    return result;
  }

  double count(const Batch& batch, std::size_t index) const override {
    std::size_t values = 0;
    for (const Sample& sample : batch.samples) values += sample.targets[index].values.size();
    return static_cast<double>(kind_ == Kind::one ? batch.samples.size() : values);
  }

  Tensor loss(const Batch& batch, std::size_t index, const EncoderModel& model, const Tensor& hidden,
              const Context& context) const override {
    const Tensor logits = model.logits_of(hidden, batch.input.ids.offsets, context);  // [B, L]
    std::vector<std::int64_t> classes;
    std::vector<float> values;
    for (const Sample& sample : batch.samples) {
      std::ranges::copy(sample.targets[index].classes, std::back_inserter(classes));
      std::ranges::copy(sample.targets[index].values, std::back_inserter(values));
    }
    switch (kind_) {
      case Kind::one:
        return cross_entropy(logits, Tensor::from(classes, {logits.size(0)}),
                             {.label_smoothing = smoothing_, .reduction = Reduction::sum});
      case Kind::several: return binary_cross_entropy(logits, Tensor::from(values, logits.shape()), Reduction::sum);
      case Kind::number: return mean_squared_error(logits, Tensor::from(values, logits.shape()), Reduction::sum);
    }
    fail(ErrorKind::internal, "[classify] a kind of label");
  }

  std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel& model) const override {
    return std::make_unique<ClassifyEvaluator>(kind_, labels_, index, model);
  }
  std::string main_metric() const override {
    return kind_ == Kind::one ? "accuracy" : kind_ == Kind::several ? "f1_micro" : "spearman";
  }
  Json config_fields() const override {
    const char* type = kind_ == Kind::one       ? "single_label_classification"
                       : kind_ == Kind::several ? "multi_label_classification"
                                                : "regression";
    return {{"problem_type", type}};
  }

 private:
  Kind kind_;
  double smoothing_;
  LabelSet labels_;
};

}  // namespace

std::unique_ptr<TrainTask> make_classify_task(const HeadPlan& plan, const TrainConfig& config,
                                              const text::Tokenizer& tokenizer, std::size_t max_tokens) {
  return std::make_unique<ClassifyTask>(plan, config, tokenizer, max_tokens);
}

}  // namespace heed

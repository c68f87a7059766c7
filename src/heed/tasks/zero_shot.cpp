#include "heed/tasks/zero_shot.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/tasks/label_scores.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

constexpr std::string_view kEntailment = "entail", kContradiction = "contradict";  // how labels begin

// The class whose name begins so, in upper or lower case.
std::optional<std::size_t> class_named(const std::vector<std::string>& labels, std::string_view beginning) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::string name = labels[i].substr(0, beginning.size());
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (name == beginning) return i;
  }
  return {};
}

// What an inference model's head says of (text, hypothesis): where its two classes are, by their names. HuggingFace's
// pipeline takes the first class for contradiction, or the last one if the first is entailment.
struct InferenceClasses {
  explicit InferenceClasses(const TaskSetup& setup) {
    const auto follows = class_named(setup.labels, kEntailment), against = class_named(setup.labels, kContradiction);
    HEED_CHECK(follows && against, "[zero-shot] ", setup.name, ": config.json's id2label has ",
               join(setup.labels, ", "),
               "; expected entailment and contradiction, the labels of a model of natural-language inference");
    entailment = *follows;
    contradiction = *against;
  }
  std::size_t entailment = 0, contradiction = 0;
};

class RankedLabels : public Finding {
 public:
  RankedLabels(const Row& row, bool multi_label)
      : text(row.text),
        labels(row.texts),
        logits(row.texts.size()),
        each_for_itself(multi_label || labels.size() == 1) {}

  void finish() override {
    std::vector<double> values;
    for (const auto& [entailment, contradiction] : logits) {
      values.push_back(each_for_itself ? 1 / (1 + std::exp(contradiction - entailment)) : entailment);
    }
    if (!each_for_itself) softmax_in_place(values);
    for (std::size_t i = 0; i < labels.size(); ++i) scores.push_back({labels[i], static_cast<float>(values[i])});
    std::ranges::stable_sort(scores, std::greater(), &LabelScore::score);
  }
  Json json() const override {
    Json names = Json::array(), values = Json::array();
    for (const LabelScore& each : scores) {
      names.push_back(each.label);
      values.push_back(each.score);
    }
    return {{"sequence", text}, {"labels", std::move(names)}, {"scores", std::move(values)}};
  }

  std::string text;
  std::vector<std::string> labels;
  std::vector<std::pair<double, double>> logits;  // entailment, contradiction
  bool each_for_itself;
  std::vector<LabelScore> scores{};  // best first
};

class ZeroShotRun : public BatchedRun {
 public:
  ZeroShotRun(const TaskSetup& setup, const ZeroShotOptions& options)
      : BatchedRun(setup), options_(options), classes_(setup) {}

  // A sample per label, in their order. Of a text that is too long the end is cut off, never the hypothesis.
  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose) const override {
    HEED_CHECK(!row.texts.empty(), "[zero-shot] there are no labels to choose from");
    const text::Truncation cut{.max_length = setup_.max_tokens, .strategy = text::Truncation::Strategy::only_first};
    std::vector<std::vector<text::Encoding>> samples;
    for (const std::string& label : row.texts) {
      std::string hypothesis = options_.hypothesis;
      hypothesis.replace(hypothesis.find("{}"), 2, label);
      samples.push_back({encoded(row.text, hypothesis, cut)});
      samples.back()[0].drop_windows();
    }
    return samples;
  }
  std::unique_ptr<Finding> begin(const Row& row) const override {
    return std::make_unique<RankedLabels>(row, options_.multi_label);
  }
  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const auto width = static_cast<std::size_t>(part.logits.size(1));
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const float* logits = part.logits.data<float>() + i * width;
      static_cast<RankedLabels&>(*findings[i]).logits.at(part.batch.samples[i].window) = {
          logits[classes_.entailment], logits[classes_.contradiction]};
    }
  }

 private:
  ZeroShotOptions options_;
  InferenceClasses classes_;
};

}  // namespace

Fields ZeroShotOptions::fields() {
  Fields list;
  list.push_back(Field("template", hypothesis, "sentence that should follow from the text, with {} for the label")
                     .where([this] { return hypothesis.find("{}") != std::string::npos; }, "a text with {} in it"));
  list.push_back(Field("multi_label", multi_label, "score each label by itself, since several may be right"));
  return list;
}

std::vector<std::vector<LabelScore>> zero_shot(const LoadedModel& model, const std::vector<std::string>& texts,
                                               const std::vector<std::string>& labels, const ZeroShotOptions& options) {
  ZeroShotOptions checked = options;
  for (const Field& field : checked.fields()) field.check("[zero-shot]");
  model.require(zero_shot_task());
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text, .texts = labels});
  return results_of(run_task(model, ZeroShotRun(model.setup(), options), std::move(rows)), &RankedLabels::scores);
}

const Task& zero_shot_task() {
  static const Task task{
      .name = "zero_shot",
      .verb = "zero-shot",
      .summary =
          "classify texts by labels of your own, with an inference model: {\"sequence\", \"labels\", \"scores\"} per "
          "line",
      .example = "heed zero-shot --model nli-MiniLM2-L6-H768 --labels sports,politics \"The match ended in a draw.\"",
      .request = {{.name = "labels",
                   .row = RowField::texts,
                   .help = "labels to choose from, separated by commas: sports,politics"},
                  {.name = "text", .row = RowField::text, .help = "texts to classify"}},
      .supports =
          [](const Model& model) {
            const auto& labels = model.config().labels;
            return model.head() == HeadKind::sequence_classification && class_named(labels, kEntailment) &&
                   class_named(labels, kContradiction);
          },
      .options = option_list<ZeroShotOptions>(),
      .make = make_run<ZeroShotRun, ZeroShotOptions>};
  return task;
}

}  // namespace heed

// A label for each word. The first token of a word carries its label; the others have none unless wanted. Sentences
// that are too long are cut into windows side by side.
#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/ops/loss.h"
#include "heed/tasks/evaluation.h"
#include "heed/tasks/tag_words.h"
#include "heed/train/label_set.h"
#include "heed/train/task.h"

namespace heed {
namespace {

// Where each word of the row is in the text, which may be that of another head: in order, in bytes.
std::vector<text::Span> word_places(const Row& row, const std::string& text) {
  std::vector<text::Span> places;
  std::size_t from = 0;
  for (const std::string& word : row.words) {
    const std::size_t at = text.find(word, from);
    HEED_CHECK_AS(bad_format, at != std::string::npos, row.file, ":", row.line, ": the word \"", word,
                  "\" is not in the text \"", text, "\" where it should be");
    from = at + word.size();
    places.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(from)});
  }
  return places;
}

class TagEvaluator : public Evaluator {
 public:
  TagEvaluator(bool entities, const LabelSet& labels, std::size_t index, const EncoderModel& model)
      : entities_(entities), labels_(labels), index_(index), model_(model) {}

  void add(const Batch& batch, const Tensor& hidden) override {
    const Tensor logits = model_.logits_of(hidden, batch.input.ids.offsets, Context());
    const auto width = static_cast<std::size_t>(logits.size(1));
    const float* row = logits.data<float>();
    for (const Sample& sample : batch.samples) {
      const Tags& expected = sample.rows[index_].labels;
      if (expected_.empty() || sample.number != number_) {
        number_ = sample.number;
        expected_.push_back(expected);
        found_.emplace_back(expected.size(), label_of_nothing(labels_.list()));
        seen_.assign(expected.size(), false);
      }
      for (const std::int64_t begun : sample.targets[index_].words) {
        const auto word = static_cast<std::size_t>(begun);
        if (begun != kNoTarget && !seen_[word]) {
          found_.back()[word] = labels_[static_cast<std::size_t>(std::max_element(row, row + width) - row)];
          seen_[word] = true;
        }
        row += width;
      }
    }
  }

  Evaluation result() const override {
    return evaluate_tags(expected_, found_, entities_ ? std::optional(TagScheme::conll) : std::nullopt);
  }

 private:
  bool entities_;
  const LabelSet& labels_;
  std::size_t index_;
  const EncoderModel& model_;
  std::vector<Tags> expected_, found_;
  std::size_t number_ = 0;  // the row that the last of them belong to
  std::vector<bool> seen_;  // words of it that have been predicted
};

class TagTask : public TrainTask {
 public:
  TagTask(const TrainConfig& config, const text::Tokenizer& tokenizer, std::size_t max_tokens)
      : TrainTask(tokenizer, max_tokens), metric_(config.tag.metric), all_tokens_(config.tag.all_tokens) {}

  Head head() const override { return Head::token_classification; }
  void learn(const Row& row) override {
    labels_.learn(row);
    if (!all_tokens_) return;
    for (const std::string& label : row.labels) {
      if (label.starts_with("B-")) labels_.learn(inside_of(label));
    }
  }
  std::vector<std::string> labels() const override { return labels_.list(); }
  void set_labels(std::vector<std::string> labels) override { labels_.set(std::move(labels)); }

  std::string text_of(const Row& row) const override { return join_words(row.words).text; }
  std::vector<std::vector<text::Encoding>> encode(const Row& row) const override {
    return samples_of(tokenizer_.encode(text_of(row), {.truncation = text::Truncation{.max_length = max_tokens_}}));
  }

  // classes and words: one a token.
  Targets targets(const Row& row, const std::string& text, std::vector<text::Encoding>& sequences,
                  const SampleDraw&) const override {
    HEED_CHECK_AS(bad_format, row.words.size() == row.labels.size(), row.file, ":", row.line, ": ", row.words.size(),
                  " words and ", row.labels.size(), " labels");
    const std::vector<text::Span> places = word_places(row, text);
    const text::Encoding& tokens = sequences[0];
    Targets result{.classes = std::vector<std::int64_t>(tokens.size(), kNoTarget),
                   .words = std::vector<std::int64_t>(tokens.size(), kNoTarget)};
    const auto words = word_of_tokens(tokens, places);
    std::optional<std::size_t> last;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (!words[t]) continue;
      const std::size_t word = *words[t];
      if (word == last) {
        if (all_tokens_) result.classes[t] = labels_.index_of(continued(row.labels[word]), row);
        continue;
      }
      last = word;
      result.classes[t] = labels_.index_of(row.labels[word], row);
      result.words[t] = static_cast<std::int64_t>(word);
    }
    return result;
  }

  double count(const Batch& batch, std::size_t index) const override {
    std::ptrdiff_t labelled = 0;
    for (const Sample& sample : batch.samples) {
      const auto& classes = sample.targets[index].classes;
      labelled += std::ranges::count_if(classes, [](std::int64_t label) { return label != kNoTarget; });
    }
    return static_cast<double>(labelled);
  }

  Tensor loss(const Batch& batch, std::size_t index, const EncoderModel& model, const Tensor& hidden,
              const Context& context) const override {
    const Tensor logits = model.logits_of(hidden, batch.input.ids.offsets, context);  // [N, L]
    std::vector<std::int64_t> classes;
    for (const Sample& sample : batch.samples) {
      std::ranges::copy(sample.targets[index].classes, std::back_inserter(classes));
    }
    return cross_entropy(logits, Tensor::from(classes, {logits.size(0)}),
                         {.ignore_index = kNoTarget, .reduction = Reduction::sum});
  }

  std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel& model) const override {
    return std::make_unique<TagEvaluator>(scores_entities(), labels_, index, model);
  }
  std::string main_metric() const override { return scores_entities() ? "f1" : "accuracy"; }

 private:
  static std::string inside_of(const std::string& label) { return "I-" + label.substr(2); }
  // The label of a word's further tokens.
  std::string continued(const std::string& label) const {
    return label.starts_with("B-") && labels_.contains(inside_of(label)) ? inside_of(label) : label;
  }
  bool scores_entities() const {
    if (!metric_.empty()) return metric_ == "entity";
    return spell_entities(labels());
  }

  std::string metric_;
  bool all_tokens_;
  LabelSet labels_;
};

}  // namespace

std::unique_ptr<TrainTask> make_tag_task(const HeadPlan&, const TrainConfig& config, const text::Tokenizer& tokenizer,
                                         std::size_t max_tokens) {
  return std::make_unique<TagTask>(config, tokenizer, max_tokens);
}

}  // namespace heed

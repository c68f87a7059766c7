#include "heed/tasks/tag.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/ops/loss.h"
#include "heed/tasks/class_weights.h"
#include "heed/tasks/label_set.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/word_places.h"

namespace heed {
namespace {

// [{"entity_group", "score", "word", "start", "end"}, ...]; with Aggregation::none "entity" and "index".
Json to_json(const std::vector<Entity>& entities) {
  Json list = Json::array();
  for (const Entity& entity : entities) {
    Json item = {{"score", entity.score}, {"word", entity.word}, {"start", entity.start}, {"end", entity.end}};
    item[entity.index ? "entity" : "entity_group"] = entity.label;
    if (entity.index) item["index"] = *entity.index;
    list.push_back(std::move(item));
  }
  return list;
}

// A row of words gets a label per word, a text gets entities.
class Tagged : public Finding {
 public:
  Tagged(const Row& row, const std::string& label_of_nothing, std::size_t window_stride)
      : words(row.words),
        labels(row.words.size(), label_of_nothing),
        seen_in(row.words.size()),
        stride(window_stride) {}

  void finish() override {
    std::size_t first_index = 0;  // tokens of the text before a window: the earlier windows, less what they share
    for (Window& window : windows) {
      for (Entity& entity : window.entities) {
        if (entity.index) *entity.index += first_index;
      }
      first_index += window.tokens - stride;
      std::ranges::move(window.entities, std::back_inserter(entities));
    }
    if (windows.size() > 1) entities = merge_windows(std::move(entities));
  }
  Json json() const override {
    if (words.empty()) return to_json(entities);
    Json list = Json::array();
    for (std::size_t i = 0; i < words.size(); ++i) list.push_back({{"word", words[i]}, {"label", labels[i]}});
    return list;
  }

  struct Window {
    std::vector<Entity> entities{};
    std::size_t tokens = 0;  // of the text
  };
  Window& window(std::size_t number) {
    if (windows.size() <= number) windows.resize(number + 1);
    return windows[number];
  }

  std::vector<std::string> words;
  std::vector<std::string> labels;
  std::vector<std::optional<std::size_t>> seen_in;  // the window that a word's label is from
  std::vector<Window> windows{};
  std::vector<Entity> entities{};
  std::size_t stride;
};

// Those that only training has come on top.
struct TagSettings : TagOptions {
  Json class_weights = "none";
  Fields fields();
};

class TagRun : public TrainableRun {
 public:
  TagRun(const TaskSetup& setup, const TagSettings& options)
      : TrainableRun(setup),
        options_(options),
        aggregation_(aggregation_named(options.aggregation)),
        stride_(options.stride < 0 ? setup.max_tokens / 4 : static_cast<std::size_t>(options.stride)),
        weights_(options.class_weights) {
    if (!setup.labels.empty()) labels_ = LabelSet(setup.labels);
  }

  HeadKind head() const override { return HeadKind::token_classification; }
  void learn(const Row& row) override {
    for (const std::string& label : row.labels) {
      labels_.learn(label);
      weights_.learn(label);
      if (options_.all_tokens && label.starts_with("B-")) labels_.learn(inside_of(label));
    }
  }
  std::vector<std::string> labels() const override { return labels_.list(); }
  void learned() const override { labels_.check_learned(); }
  void set_labels(std::vector<std::string> labels) override {
    weights_.set_labels(labels);
    labels_.set(std::move(labels));
  }
  std::vector<std::size_t> check(const Row& row) const override {
    check_words(row);
    return labels_.unknown_labels(row);
  }

  std::string text_of(const Row& row) const override { return row.words.empty() ? row.text : join_words(row.words); }
  // Training has windows side by side, so that no word is learned twice.
  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    const std::size_t shared = purpose == Purpose::train ? 0 : stride_;
    return samples_of(encoded(text_of(row), {.max_length = setup_.max_tokens, .stride = shared}));
  }

  // classes: one per token. The first token of a word carries its label; the others have none unless wanted.
  Targets targets(const Row& row, const std::string& text, std::vector<text::Encoding>& sequences,
                  const SampleDraw&) const override {
    check_words(row);
    const text::Encoding& tokens = sequences[0];
    Targets result{.classes = std::vector<std::int64_t>(tokens.size(), kNoTarget)};
    const auto words = word_of_tokens(tokens, word_places(row, text));
    std::optional<std::size_t> last;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (!words[t]) continue;
      const std::string& label = row.labels[*words[t]];
      if (words[t] != last) {
        result.classes[t] = class_of(label);
      } else if (options_.all_tokens) {
        result.classes[t] = class_of(continued(label));
      }
      last = words[t];
    }
    return result;
  }

  double count(const HeadBatch& part) const override {
    double count = 0;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      count += weights_.sum(part.targets(i).classes, part.training);
    }
    return count;
  }

  Tensor loss(const HeadBatch& part) const override {
    std::vector<std::int64_t> classes;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      std::ranges::copy(part.targets(i).classes, std::back_inserter(classes));
    }
    return cross_entropy(
        part.logits, Tensor::from(classes, {part.logits.size(0)}),
        {.ignore_index = kNoTarget, .class_weights = weights_.tensor(part.training), .reduction = Reduction::sum});
  }

  std::unique_ptr<Finding> begin(const Row& row) const override {
    return std::make_unique<Tagged>(row, labels_.label_of_nothing(), stride_);
  }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      auto& tagged = static_cast<Tagged&>(*findings[i]);
      if (tagged.words.empty()) {
        find_entities(part.batch.samples[i], part.token_logits(i), tagged);
      } else {
        find_labels(part.batch.samples[i], part.row(i), part.token_logits(i), tagged);
      }
    }
  }

  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    auto& expected = all.expected.emplace_back();
    for (const std::string& label : row.labels) expected.push_back(labels_.name_of(label));
    all.found.push_back(static_cast<const Tagged&>(finding).labels);
  }
  Evaluation metrics(const Comparison& all, double) const override {
    return evaluate_tags(
        all.expected, all.found,
        scores_entities() ? std::optional(EntityOptions{.scheme = tag_scheme_named(options_.scheme)}) : std::nullopt,
        static_cast<int>(options_.digits));
  }
  std::vector<std::string> metric_names() const override {
    if (!scores_entities()) return {"accuracy"};
    return {"f1", "precision", "recall", "accuracy"};
  }
  std::string main_metric() const override { return scores_entities() ? "f1" : "accuracy"; }

 private:
  static std::string inside_of(const std::string& label) { return "I-" + label.substr(2); }
  // The label of a word's further tokens.
  std::string continued(const std::string& label) const {
    return label.starts_with("B-") && labels_.contains(inside_of(label)) ? inside_of(label) : label;
  }
  // A label that a model does not know has no loss, and counts as wrong where it is expected.
  std::int64_t class_of(const std::string& label) const { return labels_.find(label).value_or(kNoTarget); }
  static void check_words(const Row& row) {
    HEED_CHECK_AS(bad_format, row.words.size() == row.labels.size(), row.place(), ": ", row.words.size(), " words and ",
                  row.labels.size(), " labels");
  }
  // A strict scheme is asked for by name; by default the labels show whether they spell entities.
  bool scores_entities() const {
    if (!options_.metric.empty()) return options_.metric == "entity";
    return options_.scheme != "conll" || spell_entities(labels());
  }

  // A word counts in the first window that has it: there it has its beginning. logits [tokens, L].
  void find_labels(const Sample& sample, const Row& row, const float* logits, Tagged& tagged) const {
    const auto first = first_token_of_words(sample.sequences[0], word_places(row, sample.text));
    for (std::size_t word = 0; word < first.size(); ++word) {
      if (!first[word] || (tagged.seen_in[word] && *tagged.seen_in[word] < sample.window)) continue;
      const float* scores = logits + *first[word] * labels_.size();
      tagged.labels[word] =
          labels_[static_cast<std::size_t>(std::max_element(scores, scores + labels_.size()) - scores)];
      tagged.seen_in[word] = sample.window;
    }
  }

  void find_entities(const Sample& sample, const float* logits, Tagged& tagged) const {
    const text::Encoding& encoding = sample.sequences[0];
    const auto special = std::accumulate(encoding.special_mask.begin(), encoding.special_mask.end(), std::size_t{0});
    Tagged::Window& window = tagged.window(sample.window);
    window.tokens = encoding.size() - special;
    window.entities = aggregate(tag_tokens(sample, logits), labels_.list(), aggregation_,
                                [&](auto tokens) { return setup_.tokenizer.decode_tokens(std::move(tokens)); });
    std::erase_if(window.entities, [&](const Entity& entity) {
      return std::ranges::find(options_.ignored, entity.label) != options_.ignored.end();
    });
  }

  // The tokens of a window that stand for text, with their scores.
  std::vector<TagToken> tag_tokens(const Sample& sample, const float* logits) const {
    const text::Encoding& encoding = sample.sequences[0];
    const auto unknown = setup_.special.id("unk_token");
    const std::vector<std::string> texts = setup_.tokenizer.tokens(encoding);
    std::vector<TagToken> tokens;
    std::vector<double> values;
    for (std::size_t i = 0; i < encoding.size(); ++i) {
      if (encoding.special_mask[i]) continue;
      const text::Span bytes = encoding.byte_offsets[i], characters = encoding.char_offsets[i];
      values.assign(logits + i * labels_.size(), logits + (i + 1) * labels_.size());
      softmax_in_place(values);
      tokens.push_back(
          {unknown == encoding.ids[i] ? sample.text.substr(bytes.begin, bytes.end - bytes.begin) : texts[i],
           encoding.word_ids[i], characters.begin, characters.end, i,
           std::vector<float>(values.begin(), values.end())});
    }
    return tokens;
  }

  TagSettings options_;
  Aggregation aggregation_;
  std::size_t stride_;
  LabelSet labels_;
  ClassWeights weights_;
};

std::vector<std::unique_ptr<Finding>> tagged(const LoadedModel& model, std::vector<Row> rows,
                                             const TagOptions& options) {
  model.require(tag_task());
  return run_task(model, TagRun(model.setup(), {options}), std::move(rows));
}

}  // namespace

Fields TagOptions::fields() {
  Fields list;
  list.push_back(Field("aggregation", aggregation, "how tokens are joined to words and entities")
                     .one_of({"none", "simple", "first", "average", "max"})
                     .only_for(kForPredict));
  list.push_back(Field("stride", stride, "tokens that the windows over a long text share; -1: a quarter of a window")
                     .at_least(-1)
                     .only_for(kForPredict | kForEvaluate));
  list.push_back(
      Field("metric", metric, "metric that decides: entity or accuracy; default: entity if the labels are B-, I-, O")
          .one_of({"", "entity", "accuracy"})
          .only_for(kForTrain | kForEvaluate));
  list.push_back(Field("all_tokens", all_tokens, "label all tokens of a word, with I- after B-, not only its first one")
                     .only_for(kForTrain));
  list.push_back(Field("scheme", scheme,
                       "how tags make entities: conll (lenient), or strictly iob1, iob2, ioe1, ioe2, iobes or bilou")
                     .one_of({"conll", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"})
                     .only_for(kForEvaluate));
  list.push_back(digits_field(digits));
  return list;
}

namespace {

Fields TagSettings::fields() {
  Fields list = TagOptions::fields();
  list.push_back(class_weights_field(class_weights));
  return list;
}

}  // namespace

std::vector<std::vector<Entity>> tag(const LoadedModel& model, const std::vector<std::string>& texts,
                                     const TagOptions& options) {
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text});
  return results_of(tagged(model, std::move(rows), options), &Tagged::entities);
}

std::vector<std::vector<std::string>> tag_words(const LoadedModel& model,
                                                const std::vector<std::vector<std::string>>& sentences) {
  std::vector<Row> rows;
  for (const auto& words : sentences) rows.push_back({.words = words});
  return results_of(tagged(model, std::move(rows), {}), &Tagged::labels);
}

const Task& tag_task() {
  static const Task task{
      .name = "tag",
      .verb = "tag",
      .summary =
          "label the words of texts: [{\"entity_group\", \"score\", \"word\", \"start\", \"end\"}, ...] per line",
      .example = "heed tag --model bert-base-NER \"Wolfgang lives in Berlin\"",
      .request = {{.name = "words",
                   .row = RowField::words,
                   .help = "words that are split already, to label one by one",
                   .optional = true},
                  {.name = "text", .row = RowField::text, .help = "texts to label", .optional = true}},
      .supports = [](const Model& model) { return model.head() == HeadKind::token_classification; },
      .options = option_list<TagSettings>(),
      .make = make_run<TagRun, TagSettings>,
      .rows = {RowField::words, RowField::labels},
      .sample_data = ".conll",
      .head = HeadKind::token_classification,
      .shares_input = true};
  return task;
}

}  // namespace heed

#include "heed/tasks/embed.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"
#include "heed/tasks/embed_plan.h"
#include "heed/tasks/label_set.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

// Vectors of the first texts and of the second ones, [B, C] each, of length 1; samples have two sequences.
std::pair<Tensor, Tensor> unit_pairs(const Tensor& vectors) {
  const auto width = static_cast<double>(vectors.size(1));
  const Tensor units = scale(rms_norm(vectors, Tensor(), 1e-24), 1 / std::sqrt(width));
  std::vector<std::int64_t> even, odd;
  for (std::int64_t i = 0; i < units.size(0); i += 2) even.push_back(i), odd.push_back(i + 1);
  const auto count = static_cast<std::int64_t>(even.size());
  return {take_rows(units, Tensor::from(even, {count})), take_rows(units, Tensor::from(odd, {count}))};
}

// Whether a label says that a pair is not a right one: zero or less as any program may write it, or false.
bool says_no(std::string_view label) {
  const bool is_false = std::ranges::equal(label, std::string_view("false"), {},
                                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (label.starts_with('+')) label.remove_prefix(1);
  double value = 1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
  return is_false || (error == std::errc() && end == label.data() + label.size() && value <= 0);
}

// The vectors of a row's texts: of one, or of a pair.
class Embedded : public Finding {
 public:
  Json json() const override { return {{"embedding", vectors.at(0)}}; }
  // The shortest decimals that lead back to the same floats.
  std::string line() const override {
    std::string text = "{\"embedding\":[";
    char digits[32];
    for (const float value : vectors.at(0)) {
      if (text.back() != '[') text += ',';
      text.append(digits, std::to_chars(digits, std::end(digits), value, std::chars_format::general).ptr);
    }
    return text + "]}";
  }
  std::span<const float> vector() const override { return vectors.at(0); }
  std::vector<std::vector<float>> vectors{};
  bool nearest = false;  // whether the first text's own pair is the nearest of the batch
};

class EmbedRun : public TrainableRun {
 public:
  EmbedRun(const TaskSetup& setup, const EmbedOptions& options)
      : TrainableRun(setup), options_(options), plan_(setup, options), contrastive_(options.loss != "cosine") {}

  HeadKind head() const override { return HeadKind::none; }

  // Without a loss that is asked for, the first row decides: scores are what the cosines should be.
  void learn(const Row& row) override {
    if (!learned_ && options_.loss.empty()) contrastive_ = !row.score;
    learned_ = true;
    check(row);
    if (row.score) scores_.learn(*row.score);
  }
  void learned() const override {
    if (!contrastive_) scores_.check();
  }
  std::vector<std::size_t> check(const Row& row) const override {
    if (!is_contrastive(row)) {
      HEED_CHECK_AS(bad_format, row.score, row.place(),
                    ": has no score, which the cosine loss needs; set its column (data.score, --score)");
      return {};
    }
    const bool wrong = row.labels.size() == 1 && says_no(row.labels[0]);
    HEED_CHECK_AS(bad_format, !row.score && !wrong, row.place(), ": has ",
                  row.score ? "a score" : "the label " + row.labels[0],
                  ", but the contrastive loss takes every pair for a right one; keep the right pairs alone, or set "
                  "data.score to that column and embed.loss to cosine");
    return {};
  }

  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    HEED_CHECK_AS(bad_format, row.pair || purpose == Purpose::predict, row.place(),
                  ": has no second text; set its column (data.pair, --pair)");
    std::vector<std::vector<text::Encoding>> samples(1);
    const auto add = [&](const std::string& text) {
      samples[0].push_back(encoded(plan_.prompt + text, {.max_length = plan_.max_tokens}));
      samples[0].back().drop_windows();
    };
    add(row.text);
    if (row.pair) add(*row.pair);
    return samples;
  }

  // values: the cosine that a score stands for.
  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>&, const SampleDraw&) const override {
    check(row);
    if (is_contrastive(row)) return {};
    return {.values = {static_cast<float>(*row.score / options_.score_range)}};
  }

  // The vectors, [sequences, C].
  Tensor forward(const Model&, const HeadBatch& part, const Tensor& hidden, const Context&) const override {
    return plan_.pool(hidden, part.batch.inputs.ids.offsets);
  }

  double count(const HeadBatch& part) const override { return static_cast<double>(part.batch.samples.size()); }

  Tensor loss(const HeadBatch& part) const override {
    const auto [first, second] = unit_pairs(part.logits);
    const std::int64_t pairs = first.size(0);
    if (part.targets(0).values.empty()) {
      std::vector<std::int64_t> own;
      for (std::int64_t i = 0; i < pairs; ++i) own.push_back(i);
      return cross_entropy(heed::scale(matmul(first, transpose(second, 0, 1)), options_.scale),
                           Tensor::from(own, {pairs}), {.reduction = Reduction::sum});
    }
    std::vector<float> scores;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      HEED_CHECK_AS(bad_format, !part.targets(i).values.empty(), part.row(i).place(),
                    ": has no score, others have one");
      scores.push_back(part.targets(i).values[0]);
    }
    return mean_squared_error(sum(multiply(first, second), 1), Tensor::from(scores, {pairs}), Reduction::sum);
  }

  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<Embedded>(); }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const auto width = static_cast<std::size_t>(part.logits.size(1));
    const float* row = part.logits.data<float>();
    for (std::size_t i = 0; i < findings.size(); ++i) {
      for (std::size_t text = 0; text < part.batch.samples[i].sequences.size(); ++text, row += width) {
        // Scores are by cosines, which do not ask for the length.
        const bool scored = !part.batch.samples[i].targets.empty();
        static_cast<Embedded&>(*findings[i])
            .vectors.push_back(scored ? std::vector<float>(row, row + width) : plan_.finished(std::span(row, width)));
      }
    }
    if (part.batch.samples[0].targets.empty() || !part.targets(0).values.empty()) return;
    for (Finding* const finding : findings) find_nearest(static_cast<Embedded&>(*finding), findings);
  }

  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    const auto& embedded = static_cast<const Embedded&>(finding);
    if (is_contrastive(row)) {
      all.found_numbers.push_back(embedded.nearest ? 1 : 0);
      return;
    }
    all.expected_numbers.push_back(*row.score);
    all.found_numbers.push_back(cosine(embedded.vectors[0], embedded.vectors[1]));
  }
  Evaluation metrics(const Comparison& all, double) const override {
    if (!all.expected_numbers.empty()) return evaluate_numbers(all.expected_numbers, all.found_numbers);
    const auto right = static_cast<double>(std::ranges::count(all.found_numbers, 1.0));
    return {.metrics = {{"accuracy", right / static_cast<double>(all.found_numbers.size())}}};
  }
  std::vector<std::string> metric_names() const override {
    if (contrastive_) return {"accuracy"};
    return {"pearson", "spearman"};
  }
  std::string main_metric() const override { return contrastive_ ? "accuracy" : "spearman"; }
  bool correlates() const override { return !contrastive_; }

  // sentence-transformers' description: the model, how its vectors become one, and that it has length 1.
  void save_files(const std::filesystem::path& folder, const ModelInfo& model) const override {
    const auto write = [&](const char* name, const Json& value) {
      make_folder((folder / name).parent_path());
      replace_file(folder / name, value.dump(2) + "\n");
    };
    write("modules.json",
          {{{"idx", 0}, {"name", "0"}, {"path", ""}, {"type", "sentence_transformers.models.Transformer"}},
           {{"idx", 1}, {"name", "1"}, {"path", "1_Pooling"}, {"type", "sentence_transformers.models.Pooling"}},
           {{"idx", 2}, {"name", "2"}, {"path", "2_Normalize"}, {"type", "sentence_transformers.models.Normalize"}}});
    write("sentence_bert_config.json", {{"max_seq_length", setup_.max_tokens}, {"do_lower_case", false}});
    write("1_Pooling/config.json", {{"word_embedding_dimension", model.vector_size()},
                                    {"pooling_mode_cls_token", plan_.pooling == SentenceEmbedding::Pooling::cls},
                                    {"pooling_mode_mean_tokens", plan_.pooling == SentenceEmbedding::Pooling::mean},
                                    {"pooling_mode_max_tokens", plan_.pooling == SentenceEmbedding::Pooling::max},
                                    {"pooling_mode_mean_sqrt_len_tokens", false}});
  }

 private:
  bool is_contrastive(const Row& row) const { return learned_ || !options_.loss.empty() ? contrastive_ : !row.score; }
  static void find_nearest(Embedded& own, std::span<Finding* const> all) {
    const double least = cosine(own.vectors[0], own.vectors[1]);
    own.nearest = std::ranges::none_of(all, [&](const Finding* other) {
      return cosine(own.vectors[0], static_cast<const Embedded*>(other)->vectors[1]) > least;
    });
  }

  EmbedOptions options_;
  EmbedPlan plan_;
  bool contrastive_, learned_ = false;
  ScoreRange scores_;
};

}  // namespace

Fields EmbedOptions::fields() {
  Fields list;
  list.push_back(pooling_field(pooling));
  list.push_back(Field("normalize", normalize, "scale vectors to length 1; default: what the model's folder says")
                     .only_for(kForPredict));
  list.push_back(prompt_field(prompt).only_for(kForPredict | kForEvaluate));
  list.push_back(Field("loss", loss,
                       "loss to train with: contrastive (other pairs of the batch are wrong) or cosine (data.score); "
                       "default: cosine if there are scores")
                     .one_of({"", "contrastive", "cosine"})
                     .only_for(kForTrain | kForEvaluate));
  list.push_back(
      Field("scale", scale, "factor of the cosines in the contrastive loss").only_for(kForTrain | kForEvaluate));
  list.push_back(Field("score_range", score_range, "score that stands for a cosine of 1, in the cosine loss")
                     .where([this] { return score_range > 0; }, "above 0")
                     .only_for(kForTrain | kForEvaluate));
  return list;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  return dot(a, b) / std::max(std::sqrt(dot(a, a)) * std::sqrt(dot(b, b)), 1e-12);
}

Tensor embed(const LoadedModel& model, const std::vector<std::string>& texts, const EmbedOptions& options) {
  model.require(embed_task());
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text});
  const EmbedRun run(model.setup(), options);
  const auto vectors = results_of(run_task(model, run, std::move(rows)), &Embedded::vectors);
  Tensor all = Tensor::empty({static_cast<std::int64_t>(texts.size()), model.model().info().vector_size()});
  float* place = all.mutable_data<float>();
  for (const auto& vector : vectors) place = std::ranges::copy(vector.at(0), place).out;
  return all;
}

const Task& embed_task() {
  static const Task task{.name = "embed",
                         .verb = "embed",
                         .summary = "turn texts into vectors: {\"embedding\": [...]} per line",
                         .example = "heed embed --model all-MiniLM-L6-v2 \"a text\" \"another\"",
                         .request = {{.name = "text", .row = RowField::text, .help = "texts to embed"}},
                         .supports = has_hidden_states,
                         .options = option_list<EmbedOptions>(),
                         .make = make_run<EmbedRun, EmbedOptions>,
                         .rows = {RowField::text},
                         .sample_data = ".csv",
                         .head = HeadKind::none};
  return task;
}

}  // namespace heed

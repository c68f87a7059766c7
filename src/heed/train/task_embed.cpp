// Vectors of texts, learned from pairs. Contrastive: the second text of a pair is to be nearer to the first than the
// second texts of all other pairs of the batch. Cosine: the cosine of the two is to be the score.
#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/evaluation.h"
#include "heed/train/task.h"

namespace heed {
namespace {

// Rows of length 1.
Tensor normalized(const Tensor& rows) {
  const auto width = static_cast<double>(rows.size(1));
  return scale(rms_norm(rows, Tensor(), 1e-24), 1 / std::sqrt(width));
}

// Vectors of the first texts and of the second ones, [B, C] each; samples have two sequences.
std::pair<Tensor, Tensor> pair_vectors(const Batch& batch, const Tensor& hidden, SentenceEmbedding::Pooling pooling) {
  const Tensor vectors = normalized(pool_texts(hidden, batch.input.ids.offsets, pooling));
  std::vector<std::int64_t> even, odd;
  for (std::int64_t i = 0; i < vectors.size(0); i += 2) even.push_back(i), odd.push_back(i + 1);
  const auto count = static_cast<std::int64_t>(even.size());
  return {embedding(vectors, Tensor::from(even, {count})), embedding(vectors, Tensor::from(odd, {count}))};
}

// Contrastive: how often the own second text is the nearest of the batch. Cosine: correlation with the scores.
class EmbedEvaluator : public Evaluator {
 public:
  EmbedEvaluator(bool contrastive, SentenceEmbedding::Pooling pooling, std::size_t index)
      : contrastive_(contrastive), pooling_(pooling), index_(index) {}

  void add(const Batch& batch, const Tensor& hidden) override {
    const auto [first, second] = pair_vectors(batch, hidden, pooling_);
    const Tensor cosines = matmul(first, transpose(second, 0, 1));
    const auto pairs = static_cast<std::size_t>(cosines.size(0));
    for (std::size_t i = 0; i < pairs; ++i) {
      const float* row = cosines.data<float>() + i * pairs;
      right_ += std::max_element(row, row + pairs) == row + i;
      ++pairs_;
      if (contrastive_) continue;
      found_.push_back(static_cast<double>(row[i]));
      expected_.push_back(static_cast<double>(batch.samples[i].targets[index_].values[0]));
    }
  }
  Evaluation result() const override {
    if (contrastive_) return {.metrics = {{"accuracy", static_cast<double>(right_) / static_cast<double>(pairs_)}}};
    return evaluate_numbers(expected_, found_);
  }

 private:
  bool contrastive_;
  SentenceEmbedding::Pooling pooling_;
  std::size_t index_, right_ = 0, pairs_ = 0;
  std::vector<double> expected_, found_;
};

class EmbedTask : public TrainTask {
 public:
  EmbedTask(const TrainConfig& config, const text::Tokenizer& tokenizer, std::size_t max_tokens)
      : TrainTask(tokenizer, max_tokens),
        contrastive_(config.embed.loss == "contrastive"),
        pooling_(pooling_named(config.embed.pooling)),
        scale_(config.embed.scale),
        range_(config.embed.score_range) {}

  Head head() const override { return Head::none; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row) const override {
    HEED_CHECK_AS(bad_format, row.pair.has_value(), row.file, ":", row.line,
                  ": no second text; name its column by data.pair");
    const text::EncodeOptions options{.truncation = text::Truncation{.max_length = max_tokens_}};
    std::vector<std::vector<text::Encoding>> samples(1);
    for (const std::string& text : {row.text, *row.pair}) {
      samples[0].push_back(tokenizer_.encode(text, options));
      samples[0].back().overflowing.clear();
    }
    return samples;
  }

  Targets targets(const Row& row, const std::string&, std::vector<text::Encoding>&, const SampleDraw&) const override {
    if (contrastive_) return {};
    HEED_CHECK_AS(bad_format, row.score.has_value(), row.file, ":", row.line,
                  ": no score; name its column by data.score");
    return {.values = {static_cast<float>(*row.score / range_)}};
  }

  double count(const Batch& batch, std::size_t) const override { return static_cast<double>(batch.samples.size()); }

  Tensor loss(const Batch& batch, std::size_t index, const EncoderModel&, const Tensor& hidden,
              const Context&) const override {
    const auto [first, second] = pair_vectors(batch, hidden, pooling_);
    const std::int64_t pairs = first.size(0);
    if (contrastive_) {
      std::vector<std::int64_t> own;
      for (std::int64_t i = 0; i < pairs; ++i) own.push_back(i);
      return cross_entropy(heed::scale(matmul(first, transpose(second, 0, 1)), scale_), Tensor::from(own, {pairs}),
                           {.reduction = Reduction::sum});
    }
    std::vector<float> scores;
    for (const Sample& sample : batch.samples) scores.push_back(sample.targets[index].values[0]);
    return mean_squared_error(sum(multiply(first, second), 1), Tensor::from(scores, {pairs}), Reduction::sum);
  }

  std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel&) const override {
    return std::make_unique<EmbedEvaluator>(contrastive_, pooling_, index);
  }
  std::string main_metric() const override { return contrastive_ ? "accuracy" : "spearman"; }

 private:
  bool contrastive_;
  SentenceEmbedding::Pooling pooling_;
  double scale_, range_;
};

}  // namespace

std::unique_ptr<TrainTask> make_embed_task(const HeadPlan&, const TrainConfig& config, const text::Tokenizer& tokenizer,
                                           std::size_t max_tokens) {
  return std::make_unique<EmbedTask>(config, tokenizer, max_tokens);
}

}  // namespace heed

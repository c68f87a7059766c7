// Masked language modelling (Devlin et al. 2019): of the tokens chosen, 80 % become the mask, 10 % a random token, 10 %
// stay; the model is to say what they were. Which tokens are chosen changes with every epoch.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/gather.h"
#include "heed/ops/loss.h"
#include "heed/tasks/metrics_ranking.h"
#include "heed/tensor/autograd.h"
#include "heed/train/task.h"

namespace heed {
namespace {

std::int32_t mask_of(const text::Tokenizer& tokenizer) {
  for (const char* spelling : {"[MASK]", "<mask>"}) {
    if (const auto id = tokenizer.token_to_id(spelling)) return *id;
  }
  fail(ErrorKind::invalid_argument, "[mlm] the tokenizer has no [MASK] or <mask>");
}

class MlmTask : public TrainTask {
 public:
  MlmTask(const TrainConfig& config, const text::Tokenizer& tokenizer, std::size_t max_tokens)
      : TrainTask(tokenizer, max_tokens),
        probability_(config.mlm.probability),
        whole_words_(config.mlm.whole_words),
        mask_(mask_of(tokenizer)) {}

  Head head() const override { return Head::masked_lm; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row) const override {
    auto samples =
        samples_of(tokenizer_.encode(text_of(row), {.truncation = text::Truncation{.max_length = max_tokens_}}));
    // A sample without a token of the text has nothing to predict.
    std::erase_if(samples, [](const auto& sequences) { return std::ranges::count(sequences[0].special_mask, 0) == 0; });
    return samples;
  }

  // classes: one a token. At least one token is chosen, so that no sample is for nothing.
  Targets targets(const Row&, const std::string&, std::vector<text::Encoding>& sequences,
                  const SampleDraw& draw) const override {
    text::Encoding& tokens = sequences[0];
    Targets result{.classes = std::vector<std::int64_t>(tokens.size(), kNoTarget)};
    std::vector<std::vector<std::size_t>> units = units_of(tokens);
    std::vector<bool> chosen(units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      chosen[i] = uniform_double(draw.seed, stream_id(draw.stream, "choose"), i) < probability_;
    }
    if (std::ranges::find(chosen, true) == chosen.end()) {
      chosen[uniform_integer(draw.seed, stream_id(draw.stream, "one"), 0, units.size())] = true;
    }
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!chosen[i]) continue;
      for (const std::size_t t : units[i]) {
        result.classes[t] = tokens.ids[t];
        tokens.ids[t] = replacement(tokens.ids[t], draw, t);
      }
    }
    return result;
  }

  double count(const Batch& batch, std::size_t index) const override {
    return static_cast<double>(rows_of(batch, index).first.size());
  }

  Tensor loss(const Batch& batch, std::size_t index, const EncoderModel& model, const Tensor& hidden,
              const Context& context) const override {
    const auto [rows, classes] = rows_of(batch, index);
    const auto count = static_cast<std::int64_t>(rows.size());
    const Tensor logits = model.logits(embedding(hidden, Tensor::from(rows, {count})), context);  // [masked, V]
    return cross_entropy(logits, Tensor::from(classes, {count}), {.reduction = Reduction::sum});
  }

  std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel& model) const override;
  std::string main_metric() const override { return "loss"; }

 private:
  // What is chosen together: single tokens, or the tokens of a word.
  std::vector<std::vector<std::size_t>> units_of(const text::Encoding& tokens) const {
    std::vector<std::vector<std::size_t>> units;
    std::int32_t word = -1;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.special_mask[t]) continue;
      const bool joins = whole_words_ && !units.empty() && tokens.word_ids[t] == word;
      if (!joins) units.emplace_back();
      units.back().push_back(t);
      word = tokens.word_ids[t];
    }
    return units;
  }
  std::int32_t replacement(std::int32_t id, const SampleDraw& draw, std::size_t token) const {
    const double share = uniform_double(draw.seed, stream_id(draw.stream, "replace"), token);
    if (share < 0.8) return mask_;
    if (share >= 0.9) return id;
    const auto size = static_cast<std::uint64_t>(tokenizer_.vocabulary_size());
    return static_cast<std::int32_t>(uniform_integer(draw.seed, stream_id(draw.stream, "random"), token, size));
  }
  // The tokens of the batch with a target, and the targets.
  static std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> rows_of(const Batch& batch,
                                                                                 std::size_t index) {
    std::vector<std::int64_t> rows, classes;
    std::int64_t row = 0;
    for (const Sample& sample : batch.samples) {
      for (const std::int64_t target : sample.targets[index].classes) {
        if (target != kNoTarget) rows.push_back(row), classes.push_back(target);
        ++row;
      }
    }
    return {std::move(rows), std::move(classes)};
  }

  double probability_;
  bool whole_words_;
  std::int32_t mask_;
};

// Loss and perplexity over the masked tokens.
class MlmEvaluator : public Evaluator {
 public:
  MlmEvaluator(const MlmTask& task, std::size_t index, const EncoderModel& model)
      : task_(task), index_(index), model_(model) {}
  void add(const Batch& batch, const Tensor& hidden) override {
    const NoGrad no_grad;
    sum_ += task_.loss(batch, index_, model_, hidden, Context()).item();
    count_ += static_cast<std::size_t>(task_.count(batch, index_));
  }
  Evaluation result() const override { return {.metrics = {{"perplexity", perplexity(sum_, count_)}}}; }

 private:
  const MlmTask& task_;
  std::size_t index_;
  const EncoderModel& model_;
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::unique_ptr<Evaluator> MlmTask::evaluator(std::size_t index, const EncoderModel& model) const {
  return std::make_unique<MlmEvaluator>(*this, index, model);
}

}  // namespace

std::unique_ptr<TrainTask> make_mlm_task(const HeadPlan&, const TrainConfig& config, const text::Tokenizer& tokenizer,
                                         std::size_t max_tokens) {
  return std::make_unique<MlmTask>(config, tokenizer, max_tokens);
}

}  // namespace heed

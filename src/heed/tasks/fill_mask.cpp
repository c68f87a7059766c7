#include "heed/tasks/fill_mask.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/metrics/ranking.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/token_run.h"

namespace heed {
namespace {

std::int32_t mask_of(const TaskSetup& setup) {
  const auto mask = setup.special.id("mask_token");
  HEED_CHECK(mask, "[fill-mask] the tokenizer", setup.name.empty() ? "" : " of " + setup.name,
             " has no mask token ([MASK], <mask>)");
  return *mask;
}

class Filled : public Finding {
 public:
  Json json() const override {
    Json lists = Json::array();
    for (const auto& mask : text.masks) {
      Json& list = lists.emplace_back(Json::array());
      for (const FilledMask& each : mask) {
        list.push_back({{"token_str", each.token_text},
                        {"token", each.token},
                        {"score", each.score},
                        {"sequence", each.sequence}});
      }
    }
    return lists.size() == 1 ? lists[0] : lists;
  }
  FilledText text{};
  double right = 0, tokens = 0;  // of masks whose token is known
};

class MlmRun : public TokenRun {
 public:
  MlmRun(const TaskSetup& setup, const MlmOptions& options)
      : TokenRun(setup), options_(options), mask_(mask_of(setup)) {}

  HeadKind head() const override { return HeadKind::masked_lm; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    text::Encoding encoding = encoded(row.text, {.max_length = setup_.max_tokens});
    if (purpose == Purpose::predict) {
      HEED_CHECK(std::ranges::count(encoding.ids, mask_) > 0, "[fill-mask] the text has no ",
                 setup_.special.text("mask_token"), ": \"", row.text, "\"");
      encoding.drop_windows();
      return samples_of(std::move(encoding));
    }
    auto samples = samples_of(std::move(encoding));
    // A sample without a token of the text has nothing to predict.
    std::erase_if(samples, [](const auto& sequences) { return std::ranges::count(sequences[0].special_mask, 0) == 0; });
    return samples;
  }

  // classes: one per token. At least one token is chosen, so that no sample is for nothing.
  Targets targets(const Row&, const std::string&, std::vector<text::Encoding>& sequences,
                  const SampleDraw& draw) const override {
    text::Encoding& tokens = sequences[0];
    Targets result{.classes = std::vector<std::int64_t>(tokens.size(), kNoTarget)};
    const std::vector<std::vector<std::size_t>> units = units_of(tokens);
    std::vector<bool> chosen(units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      chosen[i] = uniform_double(draw.seed, stream_id(draw.stream, "choose"), i) < options_.probability;
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

  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<Filled>(); }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const auto vocabulary = static_cast<std::size_t>(part.logits.size(1));
    const float* row = part.logits.data<float>();
    for (std::size_t i = 0; i < findings.size(); ++i) {
      auto& filled = static_cast<Filled&>(*findings[i]);
      for (const std::size_t place : places(part, i)) {
        const std::span logits(row, vocabulary);
        row += vocabulary;
        if (is_masked(part, i)) {
          const auto best = std::ranges::max_element(logits) - logits.begin();
          filled.right += best == right_token(part, i, place) ? 1 : 0;
          ++filled.tokens;
        } else {
          filled.text.masks.push_back(best_tokens(part.batch.samples[i].sequences[0], place, logits));
        }
      }
    }
  }

  // Masks found rightly, of all.
  void compare(const Row&, const Finding& finding, Comparison& all) const override {
    all.found_numbers.push_back(static_cast<const Filled&>(finding).right);
    all.expected_numbers.push_back(static_cast<const Filled&>(finding).tokens);
  }
  Evaluation metrics(const Comparison& all, double loss) const override {
    const auto sum = [](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0);
    };
    const double tokens = sum(all.expected_numbers);
    return {.metrics = {{"perplexity", perplexity(loss, 1)}, {"accuracy", sum(all.found_numbers) / tokens}},
            .details = {{"tokens", tokens}}};
  }
  std::vector<std::string> metric_names() const override { return {"perplexity", "accuracy"}; }
  std::string main_metric() const override { return "loss"; }

 protected:
  // The masks, or what targets() chose.
  std::vector<std::size_t> places(const HeadBatch& part, std::size_t sample) const override {
    std::vector<std::size_t> found;
    const std::vector<std::int32_t>& ids = part.batch.samples[sample].sequences[0].ids;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const bool wanted = is_masked(part, sample) ? part.targets(sample).classes[t] != kNoTarget : ids[t] == mask_;
      if (wanted) found.push_back(t);
    }
    return found;
  }
  std::int64_t right_token(const HeadBatch& part, std::size_t sample, std::size_t place) const override {
    return part.targets(sample).classes[place];
  }

 private:
  // Whether the sample was masked by targets(), or by the caller.
  static bool is_masked(const HeadBatch& part, std::size_t sample) {
    return !part.batch.samples[sample].targets.empty();
  }
  // What is chosen together: single tokens, or the tokens of a word.
  std::vector<std::vector<std::size_t>> units_of(const text::Encoding& tokens) const {
    std::vector<std::vector<std::size_t>> units;
    std::int32_t word = -1;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      if (tokens.special_mask[t]) continue;
      const bool joins = options_.whole_words && !units.empty() && tokens.word_ids[t] == word;
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
    const auto size = static_cast<std::uint64_t>(setup_.tokenizer.vocabulary_size());
    return static_cast<std::int32_t>(uniform_integer(draw.seed, stream_id(draw.stream, "random"), token, size));
  }

  std::vector<FilledMask> best_tokens(const text::Encoding& encoding, std::size_t place,
                                      std::span<const float> logits) const {
    const bool single = std::ranges::count(encoding.ids, mask_) == 1;
    std::vector<double> scores(logits.begin(), logits.end());
    softmax_in_place(scores);
    std::vector<std::int32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    const auto count = std::min(static_cast<std::size_t>(options_.top_k), order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
      const double x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
      return x != y ? x > y : a < b;
    });
    std::vector<FilledMask> best;
    std::vector<std::int32_t> ids = encoding.ids;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t token = order[i];
      ids[place] = token;
      // The other masks would vanish with the special tokens.
      best.push_back({token, setup_.tokenizer.decode(std::span(&token, 1), false),
                      static_cast<float>(scores[static_cast<std::size_t>(token)]),
                      setup_.tokenizer.decode(ids, single)});
    }
    return best;
  }

  MlmOptions options_;
  std::int32_t mask_;
};

}  // namespace

Fields MlmOptions::fields() {
  Fields list;
  list.push_back(
      Field("top_k", top_k, "number of words to give for each mask, best first").at_least(1).only_for(kForPredict));
  list.push_back(Field("probability", probability, "share of tokens to predict: 80 % masked, 10 % random, 10 % kept")
                     .where([this] { return probability > 0 && probability < 1; }, "between 0 and 1")
                     .only_for(kForTrain | kForEvaluate));
  list.push_back(
      Field("whole_words", whole_words, "mask all tokens of a word together").only_for(kForTrain | kForEvaluate));
  return list;
}

std::vector<FilledText> fill_mask(const LoadedModel& model, const std::vector<std::string>& texts, std::int64_t top_k) {
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text});
  return results_of(run_task(model, *make_task(model, mlm_task(), {{"top_k", top_k}}), std::move(rows)), &Filled::text);
}

const Task& mlm_task() {
  static const Task task{
      .name = "mlm",
      .verb = "fill-mask",
      .summary =
          "find the likeliest words for a mask: [{\"token_str\", \"token\", \"score\", \"sequence\"}, ...] per line",
      .example = "heed fill-mask --model bert-base-uncased \"The capital of France is [MASK].\"",
      .request = {{.name = "text", .row = RowField::text, .help = "texts with the model's mask, [MASK] or <mask>"}},
      .supports = [](const Model& model) { return model.head() == HeadKind::masked_lm; },
      .options = option_list<MlmOptions>(),
      .make = make_run<MlmRun, MlmOptions>,
      .rows = {RowField::text},
      .sample_data = ".txt",
      .head = HeadKind::masked_lm};
  return task;
}

}  // namespace heed

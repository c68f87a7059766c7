#include "heed/metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/metrics/fixed.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/words.h"
#include "heed/text/letter_case.h"

namespace heed {
namespace {

double smooth_value_of(const BleuOptions& options) {
  return options.smooth_value.value_or(options.smooth_method == "floor" ? 0.1 : 1);
}

double brevity_penalty(double prediction, double reference) {
  if (prediction >= reference) return 1;
  return prediction > 0 ? std::exp(1 - reference / prediction) : 0;
}

// In the place of the logarithm of 0.
double floored_log(double value) {
  return value == 0 ? -9999999999.0 : std::log(value);
}

// The length nearest to that of the prediction; of two, the shorter.
std::size_t closest(std::size_t length, const std::vector<std::size_t>& lengths) {
  const auto distance = [&](std::size_t other) { return other > length ? other - length : length - other; };
  return *std::ranges::min_element(lengths, {}, [&](std::size_t other) { return std::pair(distance(other), other); });
}

class BleuSegments : public CorpusMetric::Segments {
 public:
  BleuSegments(const BleuTokenizer& tokenize, bool lowercase, std::size_t order)
      : tokenize_(tokenize), lowercase_(lowercase), order_(order) {}

  void score(std::string_view prediction, std::span<const std::string_view> references,
             std::span<double> numbers) override {
    table_.clear();
    words_.clear();
    std::vector<std::string> texts;  // which the words view
    texts.reserve(references.size() + 1);
    const auto symbols_of = [&](std::string_view text) {
      texts.push_back(tokenize_(strip_right(lowercase_ ? text::lower(text) : std::string(text))));
      return words_.of(split_words(texts.back()));
    };
    NgramTable::Counts most;  // of the references
    std::vector<std::size_t> lengths;
    for (const std::string_view reference : references) {
      const auto symbols = symbols_of(reference);
      lengths.push_back(symbols.size());
      const auto counts = table_.count(symbols, order_);
      if (most.size() < counts.size()) most.resize(counts.size());
      std::ranges::transform(counts, most, most.begin(), [](auto a, auto b) { return std::max(a, b); });
    }
    const auto symbols = symbols_of(prediction);
    numbers[0] = static_cast<double>(symbols.size());
    numbers[1] = static_cast<double>(closest(symbols.size(), lengths));
    add_matches(table_, table_.count(symbols, order_), most, numbers.subspan(2, order_));
    for (std::size_t n = 1; n <= order_; ++n) {
      numbers[1 + order_ + n] = static_cast<double>(ngram_total(symbols.size(), n));
    }
  }

 private:
  const BleuTokenizer& tokenize_;
  bool lowercase_;
  std::size_t order_;
  NgramTable table_;
  WordNumbers words_;
};

}  // namespace

Fields BleuOptions::fields() {
  return {
      Field("tokenize", tokenize, "how texts are cut into words")
          .one_of({"13a", "intl", "zh", "char", "none", "flores101", "flores200"}),
      Field("sentencepiece_model", sentencepiece_model, "the .model file of flores101 or flores200"),
      Field("lowercase", lowercase, "large and small letters are the same"),
      Field("smooth_method", smooth_method, "what becomes of n-gram orders without a match")
          .one_of({"exp", "floor", "add-k", "none"}),
      Field("smooth_value", smooth_value, "the value of floor (default 0.1) and add-k (default 1)").at_least(0),
      Field("max_ngram_order", max_ngram_order, "the longest n-grams")
          .where([this] { return max_ngram_order >= 1 && max_ngram_order <= 100; }, "1 to 100"),
      Field("effective_order", effective_order, "orders that a text is too short for do not count"),
  };
}

BleuScore bleu_score(BleuCounts counts, const BleuOptions& options) {
  const std::size_t order = counts.correct.size();
  BleuScore result{.brevity_penalty = brevity_penalty(counts.prediction_length, counts.reference_length),
                   .precisions = std::vector<double>(order)};
  result.counts = std::move(counts);
  BleuCounts& c = result.counts;
  if (std::ranges::all_of(c.correct, [](double correct) { return correct == 0; })) return result;
  double halving = 1;
  std::size_t used = order;
  for (std::size_t n = 0; n < order; ++n) {
    if (options.smooth_method == "add-k" && n > 0) {
      c.correct[n] += smooth_value_of(options);
      c.total[n] += smooth_value_of(options);
    }
    if (c.total[n] == 0) break;
    if (options.effective_order) used = n + 1;
    if (c.correct[n] != 0) {
      result.precisions[n] = 100 * c.correct[n] / c.total[n];
    } else if (options.smooth_method == "exp") {
      halving *= 2;
      result.precisions[n] = 100 / (halving * c.total[n]);
    } else if (options.smooth_method == "floor") {
      result.precisions[n] = 100 * smooth_value_of(options) / c.total[n];
    }
  }
  double sum = 0;
  for (std::size_t n = 0; n < used; ++n) sum += floored_log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(sum / static_cast<double>(used));
  return result;
}

Bleu::Bleu(BleuOptions options)
    : options_(std::move(options)), order_(static_cast<std::size_t>(options_.max_ngram_order)) {
  for (const Field& field : options_.fields()) field.check("[bleu]");
  HEED_CHECK(!options_.smooth_value || options_.smooth_method == "floor" || options_.smooth_method == "add-k",
             "[bleu] a smooth_value is given, and smoothing by ", options_.smooth_method, " has none");
  tokenize_ = bleu_tokenizer(options_.tokenize, options_.sentencepiece_model);
}

std::vector<SignatureItem> Bleu::signature() const {
  std::string smooth = options_.smooth_method;
  if (smooth == "floor" || smooth == "add-k") smooth += "[" + fixed(smooth_value_of(options_), 2) + "]";
  return {{"case", "c", options_.lowercase ? "lc" : "mixed"},
          {"eff", "e", options_.effective_order ? "yes" : "no"},
          {"tok", "tok", options_.tokenize},
          {"smooth", "s", smooth}};
}

std::unique_ptr<CorpusMetric::Segments> Bleu::segments() const {
  return std::make_unique<BleuSegments>(tokenize_, options_.lowercase, order_);
}

BleuScore Bleu::score_of(std::span<const double> sums) const {
  const auto correct = sums.subspan(2, order_), total = sums.subspan(2 + order_, order_);
  return bleu_score({.prediction_length = sums[0],
                     .reference_length = sums[1],
                     .correct = {correct.begin(), correct.end()},
                     .total = {total.begin(), total.end()}},
                    options_);
}

Json Bleu::details(std::span<const double> sums) const {
  const BleuScore score = score_of(sums);
  const auto list = [](const std::vector<double>& counts) {
    Json numbers = Json::array();
    for (const double count : counts) numbers.push_back(number_json(count));
    return numbers;
  };
  return {{"counts", list(score.counts.correct)}, {"totals", list(score.counts.total)},
          {"precisions", score.precisions},       {"bp", score.brevity_penalty},
          {"sys_len", number_json(sums[0])},      {"ref_len", number_json(sums[1])}};
}

std::string Bleu::line(std::span<const double> sums) const {
  const BleuScore score = score_of(sums);
  return join(score.precisions, "/", [](double precision) { return fixed(precision, 1); }) +
         " (BP = " + fixed(score.brevity_penalty, 3) + " ratio = " + fixed(sums[1] > 0 ? sums[0] / sums[1] : 0, 3) +
         " hyp_len = " + fixed(sums[0], 0) + " ref_len = " + fixed(sums[1], 0) + ")";
}

}  // namespace heed

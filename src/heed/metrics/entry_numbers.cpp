// Numbers and rankings in the table of metrics.
#include "heed/base/error.h"
#include "heed/metrics/evaluation.h"
#include "heed/metrics/ranking.h"
#include "heed/metrics/registry.h"
#include "heed/metrics/report.h"

namespace heed {
namespace {

struct Options {
  std::int64_t digits = 4;
  Fields fields() {
    return {Field("digits", digits, "digits after the point of the numbers printed")
                .where([this] { return digits >= 1 && digits <= 12; }, "1 to 12")};
  }
};

struct RankingOptions : Options {
  std::int64_t k = 10;
  Fields fields() {
    Fields all = Options::fields();
    all.push_back(Field("k", k, "places that NDCG counts; 0: all").at_least(0));
    return all;
  }
};

MetricResult result_of(const Evaluation& evaluation, std::int64_t digits) {
  return {.json = to_json(evaluation), .text = text_of(evaluation, static_cast<int>(digits))};
}

MetricResult run_correlation(const MetricFiles& files, const Json& given) {
  const auto options = options_from<Options>(given);
  const std::vector<double> found = numbers_of(files.predictions[0]), expected = numbers_of(files.references[0]);
  check_same_lines(files.predictions[0], found.size(), files.references[0], expected.size());
  return result_of(evaluate_numbers(expected, found), options.digits);
}

double mean(const std::vector<double>& values) {
  return pairwise_sum(values) / static_cast<double>(values.size());
}

MetricResult run_ranking(const MetricFiles& files, const Json& given) {
  const auto options = options_from<RankingOptions>(given);
  const MetricFile &predictions = files.predictions[0], &references = files.references[0];
  const auto scores = number_lists_of(predictions), gains = number_lists_of(references);
  check_same_lines(predictions, scores.size(), references, gains.size());
  std::vector<double> precision, reciprocal, gain;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    HEED_CHECK_AS(bad_format, scores[i].size() == gains[i].size(), predictions.name, ":", i + 1, ": has ",
                  scores[i].size(), " scores, and ", references.name, " ", gains[i].size(), " gains; expected as many");
    const std::vector<double> ranked = in_ranked_order(scores[i], gains[i]);
    precision.push_back(average_precision(ranked));
    reciprocal.push_back(reciprocal_rank(ranked));
    gain.push_back(ndcg(ranked, static_cast<std::size_t>(options.k)));
  }
  const std::string name = options.k == 0 ? "ndcg" : "ndcg@" + std::to_string(options.k);
  return result_of({.metrics = {{"map", mean(precision)}, {"mrr", mean(reciprocal)}, {name, mean(gain)}}},
                   options.digits);
}

}  // namespace

const Metric& correlation_metric() {
  static const Metric metric = {.name = "correlation",
                                .summary = "Pearson's and Spearman's coefficients of numbers",
                                .predictions = "a number per line",
                                .references = "the same",
                                .example = "heed metrics correlation --predictions found.txt --references scores.txt",
                                .options = option_list<Options>(),
                                .run = run_correlation};
  return metric;
}

const Metric& ranking_metric() {
  static const Metric metric = {
      .name = "ranking",
      .summary = "mean average precision, mean reciprocal rank and NDCG of rankings",
      .predictions = "per line a query: the scores of its candidates between spaces",
      .references = "the gains of the same candidates; 0: not relevant",
      .example = "heed metrics ranking --predictions scores.txt --references relevant.txt --k 10",
      .options = option_list<RankingOptions>(),
      .run = run_ranking};
  return metric;
}

}  // namespace heed

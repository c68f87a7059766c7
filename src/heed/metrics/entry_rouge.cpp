// ROUGE in the table of metrics.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/metrics/fixed.h"
#include "heed/metrics/registry.h"
#include "heed/metrics/report.h"
#include "heed/metrics/rouge.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

struct Options : RougeOptions {
  bool sentence = false, confidence = false;
  std::string newline{};
  std::int64_t samples = 1000, seed = 12345, digits = 4;

  Fields fields() {
    Fields all = RougeOptions::fields();
    Fields own = {
        Field("newline", newline, "what stands between the sentences of a line, for rougeLsum, such as <n>"),
        Field("sentence", sentence, "score each line by itself"),
        Field("confidence", confidence, "where 95 % of the means of resampled lines are, by bootstrap"),
        Field("samples", samples, "random samples of --confidence")
            .where([this] { return samples >= 1 && samples <= 10'000'000; }, "1 to 10000000"),
        Field("seed", seed, "seed of the random samples")
            .where([this] { return seed >= 0 && seed <= UINT32_MAX; }, "0 to 4294967295"),
        Field("digits", digits, "digits after the point of the scores printed")
            .where([this] { return digits >= 1 && digits <= 12; }, "1 to 12"),
    };
    for (Field& field : own) all.push_back(std::move(field));
    return all;
  }
  int shown() const { return static_cast<int>(digits); }
};

std::vector<std::string> texts_of(const MetricFile& file, const Options& options) {
  std::vector<std::string> texts = lines_of(file);
  if (options.newline.empty()) return texts;
  for (std::string& text : texts) text = replace_all(text, options.newline, "\n");
  return texts;
}

using ScoreTable = std::vector<std::vector<RougeScore>>;  // [text][type]

ScoreTable scores_of(const Rouge& rouge, const MetricFiles& files, const Options& options) {
  const MetricFile& file = files.predictions[0];
  const std::vector<std::string> predictions = texts_of(file, options);
  std::vector<std::vector<std::string>> references;
  for (const MetricFile& each : files.references) {
    references.push_back(texts_of(each, options));
    check_same_lines(file, predictions.size(), each, references.back().size());
  }
  ScoreTable scores(predictions.size());
  constexpr std::int64_t kGrain = 16;
  parallel_for(std::ssize(predictions), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      std::vector<std::string_view> right;
      for (const auto& list : references) right.emplace_back(list[i]);
      scores[i] = rouge.score(predictions[i], right);
    }
  });
  return scores;
}

RougeScore mean_of(const ScoreTable& scores, std::size_t type) {
  RougeScore mean;
  for (double RougeScore::*measure : {&RougeScore::precision, &RougeScore::recall, &RougeScore::fmeasure}) {
    std::vector<double> values;
    for (const auto& each : scores) values.push_back(each[type].*measure);
    mean.*measure = pairwise_sum(values) / static_cast<double>(values.size());
  }
  return mean;
}

Json to_json(const RougeScore& score) {
  return {{"precision", score.precision}, {"recall", score.recall}, {"fmeasure", score.fmeasure}};
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string line_of(const std::string& name, const RougeScore& score, const Options& options) {
  const std::size_t width = static_cast<std::size_t>(options.digits) + 6;
  return padded(name, 14) + padded(fixed(score.precision, options.shown()), width) +
         padded(fixed(score.recall, options.shown()), width) + fixed(score.fmeasure, options.shown()) + "\n";
}

std::string heading(const Options& options) {
  const std::size_t width = static_cast<std::size_t>(options.digits) + 6;
  return padded("", 14) + padded("precision", width) + padded("recall", width) + "fmeasure\n";
}

MetricResult sentences(const Rouge& rouge, const ScoreTable& scores, const Options& options) {
  HEED_CHECK(!options.confidence, "[rouge] single sentences have no random samples: --sentence, or --confidence");
  MetricResult result{.json = {{"sentences", Json::array()}}, .text = heading(options)};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    Json json = Json::object();
    for (std::size_t type = 0; type < rouge.types().size(); ++type) {
      json[rouge.types()[type]] = to_json(scores[i][type]);
      result.text += line_of(std::to_string(i + 1) + " " + rouge.types()[type], scores[i][type], options);
    }
    result.json["sentences"].push_back(std::move(json));
  }
  return result;
}

MetricResult run(const MetricFiles& files, const Json& given) {
  const auto options = options_from<Options>(given);
  const Rouge rouge(options);
  const ScoreTable scores = scores_of(rouge, files, options);
  if (options.sentence) return sentences(rouge, scores, options);
  std::vector<RougeConfidence> confidence;
  if (options.confidence) {
    confidence = rouge_confidence(scores, options.samples, static_cast<std::uint32_t>(options.seed));
  }
  MetricResult result{.text = heading(options)};
  for (std::size_t type = 0; type < rouge.types().size(); ++type) {
    const std::string& name = rouge.types()[type];
    const RougeScore mean = mean_of(scores, type);
    result.json[name] = to_json(mean);
    result.text += line_of(name, mean, options);
    if (confidence.empty()) continue;
    const RougeConfidence& range = confidence[type];
    result.json["confidence"][name] = {
        {"low", to_json(range.low)}, {"mid", to_json(range.mid)}, {"high", to_json(range.high)}};
    result.text += line_of("  from", range.low, options) + line_of("  to", range.high, options);
  }
  return result;
}

}  // namespace

const Metric& rouge_metric() {
  static const Metric metric = {
      .name = "rouge",
      .summary = "ROUGE-1, -2, -L and -Lsum of summaries, as rouge-score computes them",
      .predictions = "a text per line; in a file .jsonl a JSON string per line, with sentences as lines",
      .references = "the same; of several files the best reference of each line counts",
      .example = "heed metrics rouge --predictions out.txt --references ref.txt --use-stemmer",
      .several_references = true,
      .options = option_list<Options>(),
      .run = run};
  return metric;
}

}  // namespace heed

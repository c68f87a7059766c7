// BLEU, chrF and TER in the table of metrics: what `sacrebleu` prints for a system, for each sentence, and for systems
// compared with the first.
#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/fixed.h"
#include "heed/metrics/registry.h"
#include "heed/metrics/significance.h"
#include "heed/metrics/ter.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

struct Testing {
  bool sentence = false, confidence = false, short_signature = false;
  std::string paired{};
  std::int64_t samples = 0, seed = 12345, digits = 1;

  Fields fields() {
    return {
        Field("sentence", sentence, "score each line by itself"),
        Field("confidence", confidence, "where 95 % of the scores of resampled lines are, by bootstrap"),
        Field("paired", paired,
              "compare systems with the first: bs (paired bootstrap) or ar (approximate randomization)")
            .one_of({"", "bs", "ar"}),
        Field("samples", samples, "random samples of --confidence and --paired; 0: 1000, and 10000 for ar")
            .where([this] { return samples >= 0 && samples <= 10'000'000; }, "0 to 10000000"),
        Field("seed", seed, "seed of the random samples").at_least(0),
        Field("short_signature", short_signature, "shorter names in the signature"),
        Field("digits", digits, "digits after the point of the scores printed")
            .where([this] { return digits >= 0 && digits <= 12; }, "0 to 12"),
    };
  }

  std::int64_t sample_count() const {
    return samples > 0 ? samples : paired == "ar" ? kRandomizationSamples : kBootstrapSamples;
  }
  Draws draws() const {
    const bool randomizes = paired == "ar";
    const bool draws = confidence || !paired.empty();
    return {.bootstrap = draws && !randomizes ? sample_count() : 0,
            .randomization = randomizes ? sample_count() : 0,
            .seed = static_cast<std::uint64_t>(seed)};
  }
  int shown() const { return static_cast<int>(digits); }
};

template <class Options>
struct Tested : Options, Testing {
  Fields fields() {
    Fields all = Options::fields();
    for (Field& field : Testing::fields()) all.push_back(std::move(field));
    return all;
  }
};

// As sacrebleu reads them: less the white space at their ends.
Lines texts_of(const MetricFile& file) {
  Lines lines = lines_of(file);
  for (std::string& line : lines) line = std::string(strip_right(line));
  return lines;
}

References references_of(const MetricFile& file) {
  References lines = optional_lines_of(file);
  for (auto& line : lines) {
    if (line) line = std::string(strip_right(*line));
  }
  return lines;
}

struct System {
  std::string name;
  CorpusNumbers numbers{};
  double score = 0;
  std::optional<Confidence> confidence{};
  std::optional<double> p_value{};
};

std::string score_text(const System& system, int digits) {
  std::string text = fixed(system.score, digits);
  if (const auto& range = system.confidence; range && range->mean > 0) {
    text += " (μ = " + fixed(range->mean, digits) + " ± " + fixed(range->half, digits) + ")";
  }
  return text;
}

Json system_json(const CorpusMetric& metric, const System& system) {
  Json json = metric.details(system.numbers.sums());
  json["score"] = system.score;
  if (system.confidence) json["confidence"] = {{"mean", system.confidence->mean}, {"half", system.confidence->half}};
  if (system.p_value) json["p_value"] = *system.p_value;
  return json;
}

std::string head_of(const CorpusMetric& metric, const std::string& signature) {
  return metric.name() + "|" + signature + " = ";
}

MetricResult one_system(const CorpusMetric& metric, const System& system, const Testing& testing) {
  const std::string signature =
      signature_of(metric, system.numbers.references, testing.draws(), testing.short_signature);
  MetricResult result{.json = system_json(metric, system)};
  result.json["name"] = metric.name();
  result.json["signature"] = signature;
  const std::string behind = metric.line(system.numbers.sums());
  result.text =
      head_of(metric, signature) + score_text(system, testing.shown()) + (behind.empty() ? "" : " ") + behind + "\n";
  return result;
}

MetricResult sentences(const CorpusMetric& metric, const CorpusNumbers& numbers,
                       const std::vector<References>& references, const Testing& testing) {
  HEED_CHECK(!testing.confidence && testing.paired.empty(), "[", metric.name(),
             "] single sentences have no random samples: --sentence, or --confidence and --paired");
  MetricResult result{.json = {{"name", metric.name()}, {"sentences", Json::array()}}};
  for (std::size_t i = 0; i < numbers.segments(); ++i) {
    std::size_t given = 0;
    for (const References& list : references) given += list[i] ? 1 : 0;
    const std::string signature = signature_of(metric, given, {}, testing.short_signature);
    const auto segment = numbers.segment(i);
    Json json = metric.details(segment);
    json["score"] = metric.score(segment);
    json["signature"] = signature;
    const std::string behind = metric.line(segment);
    result.text += head_of(metric, signature) + fixed(metric.score(segment), testing.shown()) +
                   (behind.empty() ? "" : " ") + behind + "\n";
    result.json["sentences"].push_back(std::move(json));
  }
  return result;
}

// Code points, and spaces up to `width`.
std::string padded(const std::string& text, std::size_t width) {
  const std::size_t length = utf8_length(text);
  return length < width ? text + std::string(width - length, ' ') : text;
}

// A line for each system; p * where it is at most 0.05.
MetricResult comparison(const CorpusMetric& metric, const std::vector<System>& systems, const Testing& testing) {
  const std::string signature =
      signature_of(metric, systems[0].numbers.references, testing.draws(), testing.short_signature);
  MetricResult result{.json = {{"name", metric.name()}, {"signature", signature}, {"systems", Json::array()}}};
  std::size_t widest = 6, widest_score = metric.name().size();
  for (const System& system : systems) {
    widest = std::max(widest, utf8_length(system.name));
    widest_score = std::max(widest_score, utf8_length(score_text(system, testing.shown())));
  }
  const bool paired = !testing.paired.empty();
  result.text =
      padded("system", widest) + "  " + (paired ? padded(metric.name(), widest_score) + "  p" : metric.name()) + "\n";
  for (const System& system : systems) {
    const std::string score = score_text(system, testing.shown());
    std::string p = paired ? "baseline" : "";
    if (system.p_value) p = fixed(*system.p_value, 4) + (*system.p_value <= 0.05 ? " *" : "");
    result.text +=
        padded(system.name, widest) + "  " + (paired ? padded(score, widest_score) + "  " + p : score) + "\n";
    Json json = system_json(metric, system);
    json["system"] = system.name;
    result.json["systems"].push_back(std::move(json));
  }
  result.text += metric.name() + "|" + signature + "\n";
  return result;
}

void test_against(const CorpusMetric& metric, const System& baseline, System& system, const Testing& testing) {
  const auto test = testing.paired == "bs" ? paired_bootstrap : paired_randomization;
  const PairedResult result =
      test(metric, baseline.numbers, system.numbers, testing.sample_count(), static_cast<std::uint64_t>(testing.seed));
  system.p_value = result.p_value;
  system.confidence = result.confidence;
}

MetricResult run_corpus_metric(const CorpusMetric& metric, const MetricFiles& files, const Testing& testing) {
  std::vector<References> references;
  for (const MetricFile& file : files.references) references.push_back(references_of(file));
  std::vector<System> systems;
  for (const MetricFile& file : files.predictions) {
    // The baseline once more, by a pattern of the shell.
    if (!testing.paired.empty() && !systems.empty() && file.name == systems[0].name) continue;
    const Lines predictions = texts_of(file);
    for (std::size_t i = 0; i < references.size(); ++i) {
      check_same_lines(file, predictions.size(), files.references[i], references[i].size());
    }
    System& system = systems.emplace_back(System{file.name, corpus_numbers(metric, predictions, references)});
    system.score = metric.score(system.numbers.sums());
  }
  HEED_CHECK(testing.paired.empty() || systems.size() > 1, "[", metric.name(),
             "] --paired compares systems: give more than one file of predictions");
  if (testing.sentence) {
    HEED_CHECK(systems.size() == 1, "[", metric.name(), "] --sentence takes one file of predictions");
    return sentences(metric, systems[0].numbers, references, testing);
  }
  const bool bootstraps = testing.confidence || testing.paired == "bs";
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (i > 0 && !testing.paired.empty()) {
      test_against(metric, systems[0], systems[i], testing);
    } else if (bootstraps && testing.paired != "ar") {
      systems[i].confidence = bootstrap_confidence(metric, systems[i].numbers, testing.sample_count(),
                                                   static_cast<std::uint64_t>(testing.seed));
    }
  }
  return systems.size() == 1 ? one_system(metric, systems[0], testing) : comparison(metric, systems, testing);
}

MetricResult run_bleu(const MetricFiles& files, const Json& given) {
  auto options = options_from<Tested<BleuOptions>>(given);
  if (options.sentence) options.effective_order = true;  // as sacrebleu does
  return run_corpus_metric(Bleu(options), files, options);
}

MetricResult run_chrf(const MetricFiles& files, const Json& given) {
  const auto options = options_from<Tested<ChrfOptions>>(given);
  return run_corpus_metric(Chrf(options), files, options);
}

MetricResult run_ter(const MetricFiles& files, const Json& given) {
  const auto options = options_from<Tested<TerOptions>>(given);
  return run_corpus_metric(Ter(options), files, options);
}

Metric entry(std::string name, std::string summary, std::string example, OptionList options,
             MetricResult (*run)(const MetricFiles&, const Json&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .predictions = "a text per line",
          .references = "a text per line; in a file .jsonl null where there is none",
          .example = std::move(example),
          .several_systems = true,
          .several_references = true,
          .options = options,
          .run = run};
}

}  // namespace

const Metric& bleu_metric() {
  static const Metric metric = entry("bleu", "BLEU of translations, as sacrebleu computes it",
                                     "heed metrics bleu --predictions out.txt --references ref.txt --confidence",
                                     option_list<Tested<BleuOptions>>(), run_bleu);
  return metric;
}

const Metric& chrf_metric() {
  static const Metric metric = entry("chrf", "chrF and chrF++ of translations, as sacrebleu computes them",
                                     "heed metrics chrf --predictions out.txt --references ref.txt --word-order 2",
                                     option_list<Tested<ChrfOptions>>(), run_chrf);
  return metric;
}

const Metric& ter_metric() {
  static const Metric metric =
      entry("ter", "translation edit rate, as tercom and sacrebleu compute it",
            "heed metrics ter --predictions out.txt --references ref.txt", option_list<Tested<TerOptions>>(), run_ter);
  return metric;
}

}  // namespace heed

#include "heed/metrics/corpus_metric.h"

#include <cmath>
#include <set>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

constexpr const char* kSacrebleu = "2.6.0";

// The references of one segment, less those that are missing.
std::vector<std::string_view> references_of(const std::vector<References>& references, std::size_t segment) {
  std::vector<std::string_view> present;
  for (const References& list : references) {
    if (list[segment]) present.emplace_back(*list[segment]);
  }
  return present;
}

void check_lines(const CorpusMetric& metric, const Lines& predictions, const std::vector<References>& references) {
  HEED_CHECK(!predictions.empty(), "[", metric.name(), "] there are no predictions");
  HEED_CHECK(!references.empty(), "[", metric.name(), "] there are no references");
  for (const References& list : references) {
    HEED_CHECK(list.size() == predictions.size(), "[", metric.name(), "] ", predictions.size(), " predictions, and ",
               list.size(), " references");
  }
}

}  // namespace

std::string signature_text(const std::vector<SignatureItem>& items, bool in_short) {
  return join(items, "|",
              [&](const SignatureItem& item) { return (in_short ? item.short_name : item.name) + ":" + item.value; });
}

std::vector<double> CorpusNumbers::sums() const {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % width] += values[i];
  return sums;
}

Json number_json(double value) {
  return value == std::floor(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

CorpusNumbers corpus_numbers(const CorpusMetric& metric, const Lines& predictions,
                             const std::vector<References>& references) {
  check_lines(metric, predictions, references);
  CorpusNumbers numbers{.width = metric.width()};
  std::set<std::size_t> counts;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    counts.insert(references_of(references, i).size());
    HEED_CHECK(!counts.contains(0), "[", metric.name(), "] line ", i + 1,
               " has no reference: it is missing in all lists");
  }
  if (counts.size() == 1) numbers.references = *counts.begin();
  numbers.values.resize(predictions.size() * numbers.width);
  constexpr std::int64_t kGrain = 16;
  parallel_for(std::ssize(predictions), kGrain, [&](std::int64_t begin, std::int64_t end) {
    const auto segments = metric.segments();
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      segments->score(predictions[i], references_of(references, i),
                      std::span(numbers.values).subspan(i * numbers.width, numbers.width));
    }
  });
  return numbers;
}

std::string signature_of(const CorpusMetric& metric, std::size_t references, const Draws& draws, bool in_short) {
  std::vector<SignatureItem> items = {{"nrefs", "#", references == 0 ? "var" : std::to_string(references)}};
  if (draws.bootstrap > 0) items.push_back({"bs", "bs", std::to_string(draws.bootstrap)});
  if (draws.randomization > 0) items.push_back({"ar", "ar", std::to_string(draws.randomization)});
  if (draws.bootstrap > 0 || draws.randomization > 0) items.push_back({"seed", "rs", std::to_string(draws.seed)});
  for (SignatureItem& item : metric.signature()) items.push_back(std::move(item));
  items.push_back({"version", "v", kSacrebleu});
  return signature_text(items, in_short);
}

}  // namespace heed

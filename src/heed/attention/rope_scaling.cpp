#include "heed/attention/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double llama3_frequency(double frequency, const RopeScaling& scaling) {
  // Turns within the original length tell slow pairs from fast ones.
  const double turns = static_cast<double>(scaling.original_length) * frequency / kTurn;
  if (turns < scaling.low_frequency_factor) return frequency / scaling.factor;
  if (turns > scaling.high_frequency_factor) return frequency;
  const double share =
      (turns - scaling.low_frequency_factor) / (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) * frequency / scaling.factor + share * frequency;
}

// The pair, as a real number, that makes this many turns within the original length.
double pair_of_turns(double turns, double base, double width, const RopeScaling& scaling) {
  return width * std::log(static_cast<double>(scaling.original_length) / (turns * kTurn)) / (2 * std::log(base));
}

void apply_yarn(std::vector<double>& frequencies, double base, std::int64_t width, const RopeScaling& scaling) {
  const auto features = static_cast<double>(width);
  double first = pair_of_turns(scaling.fast_turns, base, features, scaling);
  double last = pair_of_turns(scaling.slow_turns, base, features, scaling);
  if (scaling.whole_pairs) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0), last = std::min(last, features - 1);
  if (first == last) last += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    frequencies[i] = frequencies[i] / scaling.factor * stretched + frequencies[i] * (1 - stretched);
  }
}

double dynamic_base(double base, std::int64_t width, const RopeScaling& scaling, std::int64_t length) {
  if (width <= 2 || length <= scaling.original_length) return base;
  const double ratio = static_cast<double>(length) / static_cast<double>(scaling.original_length);
  const auto features = static_cast<double>(width);
  return base * std::pow(scaling.factor * ratio - (scaling.factor - 1), features / (features - 2));
}

}  // namespace

std::vector<double> rope_frequencies(double base, std::int64_t width, const RopeScaling& scaling, std::int64_t length) {
  using Kind = RopeScaling::Kind;
  HEED_CHECK(base > 0 && scaling.factor > 0, "[rotary] base ", base, " and factor ", scaling.factor,
             ", expected positive numbers");
  const bool has_original = scaling.kind != Kind::none && scaling.kind != Kind::linear;
  HEED_CHECK(!has_original || scaling.original_length > 0, "[rotary] scaling without its original length");
  if (scaling.kind == Kind::dynamic) base = dynamic_base(base, width, scaling, length);
  std::vector<double> frequencies(static_cast<std::size_t>(width / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
  }
  if (scaling.kind == Kind::linear) {
    for (double& each : frequencies) each /= scaling.factor;
  } else if (scaling.kind == Kind::llama3) {
    for (double& each : frequencies) each = llama3_frequency(each, scaling);
  } else if (scaling.kind == Kind::yarn) {
    apply_yarn(frequencies, base, width, scaling);
  } else if (scaling.kind == Kind::longrope) {
    const auto& factors = length > scaling.original_length ? scaling.long_factors : scaling.short_factors;
    HEED_CHECK(factors.size() == frequencies.size(), "[rotary] longrope has ", factors.size(), " factors for ",
               frequencies.size(), " pairs");
    for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= factors[i];
  }
  return frequencies;
}

}  // namespace heed

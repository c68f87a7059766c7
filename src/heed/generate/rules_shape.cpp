#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/random.h"
#include "heed/generate/rule.h"
#include "heed/generate/selection.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

// Sums of float probabilities that reach a bound exactly, on paper, count as reaching it.
constexpr double kSlack = 1e-6;
// Below it, scores overflow, and only the best counts anyway.
constexpr double kColdest = 1e-6;

std::size_t place_of(TokenId id) {
  return static_cast<std::size_t>(id);
}

auto by_score(std::span<const float> scores) {
  return [scores](TokenId a, TokenId b) {
    const float x = scores[place_of(a)], y = scores[place_of(b)];
    return x != y ? x > y : a < b;
  };
}

void keep_only(std::span<const TokenId> ids, std::span<float> scores) {
  std::vector<float> kept;
  for (const TokenId id : ids) kept.push_back(scores[place_of(id)]);
  std::ranges::fill(scores, kForbidden);
  for (std::size_t i = 0; i < ids.size(); ++i) scores[place_of(ids[i])] = kept[i];
}

double entropy_of(const Weights& weights) {
  double entropy = 0;
  for (const double weight : weights.values) {
    const double p = weight / weights.total;
    if (p > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

struct Temperature : LogitsRule {
  explicit Temperature(double given) : value(given) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    if (value > kColdest) {
      for (float& score : scores) score /= static_cast<float>(value);
    } else {
      keep_only(std::vector{static_cast<TokenId>(std::ranges::max_element(scores) - scores.begin())}, scores);
    }
  }
  double value;
};

struct TopK : LogitsRule {
  explicit TopK(std::int64_t given) : count(given) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    if (count >= std::ssize(scores)) return;
    const float least = kth_largest(scores, count);
    for (float& score : scores) {
      if (score < least) score = kForbidden;
    }
  }
  std::int64_t count;
};

// The best that together have the mass.
struct TopP : LogitsRule {
  TopP(double share, std::int64_t least) : mass(share), keep(least) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    if (mass >= 1) return;
    std::vector<TokenId> ids = allowed_ids(scores);
    const Weights weights = weights_of(scores, ids);
    std::vector<double> weight_of(scores.size());
    for (std::size_t i = 0; i < ids.size(); ++i) weight_of[place_of(ids[i])] = weights.values[i];
    double sum = 0;
    std::int64_t kept = 0;
    visit_best(ids, by_score(scores), [&](TokenId id) {
      if (kept >= keep && sum >= (mass - kSlack) * weights.total) return false;
      sum += weight_of[place_of(id)];
      ++kept;
      return true;
    });
    keep_only(std::span(ids).first(static_cast<std::size_t>(kept)), scores);
  }
  double mass;
  std::int64_t keep;
};

// Tokens less probable than bound(weights) are dropped, but none of the best `keep`.
template <class Bound>
struct Cutoff : LogitsRule {
  Cutoff(Bound given, std::int64_t least) : bound(given), keep(least) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    const std::vector<TokenId> ids = allowed_ids(scores);
    const Weights weights = weights_of(scores, ids);
    const double least = bound(weights);
    const float safe = kth_largest(scores, keep);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      float& score = scores[place_of(ids[i])];
      if (weights.values[i] / weights.total < least && score < safe) score = kForbidden;
    }
  }
  Bound bound;
  std::int64_t keep;
};

// Those whose information is nearest to the expected one and that together have the mass.
struct TypicalP : LogitsRule {
  TypicalP(double share, std::int64_t least) : mass(share), keep(least) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    std::vector<TokenId> ids = allowed_ids(scores);
    const Weights weights = weights_of(scores, ids);
    const double entropy = entropy_of(weights);
    std::vector<double> p(scores.size()), distance(scores.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const double share = weights.values[i] / weights.total;
      p[place_of(ids[i])] = share;
      distance[place_of(ids[i])] = std::abs(-std::log(share) - entropy);
    }
    const auto nearer = [&](TokenId a, TokenId b) {
      const double x = distance[place_of(a)], y = distance[place_of(b)];
      return x != y ? x < y : a < b;
    };
    double sum = 0, farthest = -1;  // of those that the mass needs; as near as that stays too
    std::size_t kept = 0;
    visit_best(ids, nearer, [&](TokenId id) {
      const double far = distance[place_of(id)];
      if (sum >= mass - kSlack && far > farthest && static_cast<std::int64_t>(kept) >= keep) return false;
      if (sum < mass - kSlack) farthest = far;
      sum += p[place_of(id)];
      ++kept;
      return true;
    });
    keep_only(std::span(ids).first(kept), scores);
  }
  double mass;
  std::int64_t keep;
};

// Of the 100 best, those that together have a share of their entropy.
struct TopH : LogitsRule {
  explicit TopH(double given) : share(given) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    std::vector<TokenId> ids = allowed_ids(scores);
    std::size_t seen = 0;
    visit_best(ids, by_score(scores), [&](TokenId) { return ++seen < 100; });
    ids.resize(std::min<std::size_t>(seen, 100));
    const Weights weights = weights_of(scores, ids);
    const double bound = entropy_of(weights) * share + kSlack;
    double sum = 0;
    std::size_t kept = 0;
    for (; kept < ids.size(); ++kept) {
      const double p = weights.values[kept] / weights.total;
      sum -= p > 0 ? p * std::log(p) : 0;
      if (sum > bound && kept > 0) break;
    }
    keep_only(std::span(ids).first(kept), scores);
  }
  double share;
};

struct TopNSigma : LogitsRule {
  explicit TopNSigma(double given) : n(given) {}
  void apply(const RuleRow&, std::span<float> scores) const override {
    const std::vector<TokenId> ids = allowed_ids(scores);
    if (ids.empty()) return;
    double mean = 0, squares = 0;
    float best = kForbidden;
    for (const TokenId id : ids) mean += scores[place_of(id)], best = std::max(best, scores[place_of(id)]);
    mean /= static_cast<double>(ids.size());
    for (const TokenId id : ids) squares += std::pow(scores[place_of(id)] - mean, 2);
    const double least = best - n * std::sqrt(squares / static_cast<double>(ids.size()));
    for (float& score : scores) {
      if (score < least) score = kForbidden;
    }
  }
  double n;
};

struct Xtc : LogitsRule {
  Xtc(double chance, double bound) : probability(chance), threshold(bound) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    if (uniform_double(row.seed, stream_id(row.stream, "xtc"), row.ids.size()) >= probability) return;
    const std::vector<TokenId> ids = allowed_ids(scores);
    const Weights weights = weights_of(scores, ids);
    std::vector<TokenId> likely;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (weights.values[i] / weights.total >= threshold) likely.push_back(ids[i]);
    }
    if (likely.size() < 2) return;
    const TokenId least = *std::ranges::max_element(likely, by_score(scores));
    for (const TokenId id : likely) {
      if (id != least) scores[place_of(id)] = kForbidden;
    }
  }
  double probability, threshold;
};

struct RemoveInvalidValues : LogitsRule {
  void apply(const RuleRow&, std::span<float> scores) const override {
    constexpr float kLargest = std::numeric_limits<float>::max();
    for (float& score : scores) score = std::isnan(score) ? 0 : std::clamp(score, -kLargest, kLargest);
  }
};

struct RenormalizeLogits : LogitsRule {
  void apply(const RuleRow&, std::span<float> scores) const override {
    kernels::log_softmax(scores.data(), scores.data(), 1, std::ssize(scores), std::ssize(scores));
  }
};

template <class Bound>
Rule cutoff(Bound bound, std::int64_t keep) {
  return std::make_unique<Cutoff<Bound>>(bound, keep);
}

}  // namespace

Rule temperature(double value) {
  return std::make_unique<Temperature>(value);
}
Rule top_k(std::int64_t count, std::int64_t keep) {
  return std::make_unique<TopK>(std::max(count, keep));
}
Rule top_p(double mass, std::int64_t keep) {
  return std::make_unique<TopP>(mass, keep);
}
Rule min_p(double share, std::int64_t keep) {
  return cutoff([share](const Weights& weights) { return share / weights.total; }, keep);  // the best weighs 1
}
Rule typical_p(double mass, std::int64_t keep) {
  return std::make_unique<TypicalP>(mass, keep);
}
Rule epsilon_cutoff(double epsilon, std::int64_t keep) {
  return cutoff([epsilon](const Weights&) { return epsilon; }, keep);
}
Rule eta_cutoff(double epsilon, std::int64_t keep) {
  const auto eta = [epsilon](const Weights& weights) {
    return std::min(epsilon, std::sqrt(epsilon) * std::exp(-entropy_of(weights)));
  };
  return cutoff(eta, keep);
}
Rule top_h(double share) {
  return std::make_unique<TopH>(share);
}
Rule top_n_sigma(double n) {
  return std::make_unique<TopNSigma>(n);
}
Rule xtc(double probability, double threshold) {
  return std::make_unique<Xtc>(probability, threshold);
}
Rule remove_invalid_values() {
  return std::make_unique<RemoveInvalidValues>();
}
Rule renormalize_logits() {
  return std::make_unique<RenormalizeLogits>();
}

}  // namespace heed

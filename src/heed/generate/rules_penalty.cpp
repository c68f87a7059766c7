#include <algorithm>
#include <cmath>

#include "heed/generate/rule.h"
#include "heed/generate/selection.h"

namespace heed {
namespace {

std::vector<TokenId> sorted(std::span<const TokenId> ids) {
  std::vector<TokenId> list(ids.begin(), ids.end());
  std::ranges::sort(list);
  return list;
}

float& score_of(std::span<float> scores, TokenId id) {
  return scores[static_cast<std::size_t>(id)];
}

// Once per token, however often it occurs.
void penalize(std::span<const TokenId> ids, float penalty, std::span<float> scores) {
  std::vector<TokenId> seen = sorted(ids);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const TokenId id : seen) {
    float& score = score_of(scores, id);
    score = score < 0 ? score * penalty : score / penalty;
  }
}

struct RepetitionPenalty : LogitsRule {
  RepetitionPenalty(double value, std::int64_t first) : penalty(static_cast<float>(value)), ignored(first) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const auto first = std::min(static_cast<std::size_t>(ignored), row.ids.size());
    penalize(row.ids.subspan(first), penalty, scores);
  }
  float penalty;
  std::int64_t ignored;
};

struct EncoderRepetitionPenalty : LogitsRule {
  explicit EncoderRepetitionPenalty(double value) : penalty(static_cast<float>(1 / value)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override { penalize(row.encoder_ids, penalty, scores); }
  float penalty;
};

struct PresenceFrequencyPenalty : LogitsRule {
  PresenceFrequencyPenalty(double once, double each) : presence(once), frequency(each) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const std::vector<TokenId> seen = sorted(row.ids.subspan(static_cast<std::size_t>(row.prompt_length)));
    for (auto first = seen.begin(); first != seen.end();) {
      const auto end = std::find_if(first, seen.end(), [&](TokenId id) { return id != *first; });
      const double lost = presence + frequency * static_cast<double>(end - first);
      score_of(scores, *first) -= static_cast<float>(lost);
      first = end;
    }
  }
  double presence, frequency;
};

struct DiversityPenalty : LogitsRule {
  explicit DiversityPenalty(double value) : penalty(static_cast<float>(value)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    for (const TokenId id : row.group_tokens) score_of(scores, id) -= penalty;
  }
  float penalty;
};

struct SequenceBiasRule : LogitsRule {
  explicit SequenceBiasRule(SequenceBias list) : biases(std::move(list)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    for (const auto& [sequence, bias] : biases) {
      const std::span<const TokenId> before(sequence.data(), sequence.size() - 1);
      // As HuggingFace has it, what stands before must be shorter than the ids so far.
      const bool holds = before.empty() ||
                         (sequence.size() <= row.ids.size() && std::ranges::equal(row.ids.last(before.size()), before));
      if (holds) score_of(scores, sequence.back()) += static_cast<float>(bias);
    }
  }
  SequenceBias biases;
};

struct ExponentialDecay : LogitsRule {
  ExponentialDecay(std::int64_t from, double by, std::vector<TokenId> ids)
      : start(from), factor(by), end_ids(std::move(ids)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const std::int64_t late = static_cast<std::int64_t>(row.ids.size()) - row.prompt_length - start;
    if (late <= 0) return;
    const auto gain = static_cast<float>(std::min(std::pow(factor, static_cast<double>(late)) - 1, 1e30));
    for (const TokenId id : end_ids) {
      if (static_cast<std::size_t>(id) >= scores.size()) continue;
      float& score = score_of(scores, id);
      if (score != kForbidden) score += std::abs(score) * gain;
    }
  }
  std::int64_t start;
  double factor;
  std::vector<TokenId> end_ids;
};

struct Dry : LogitsRule {
  explicit Dry(DryOptions given) : options(std::move(given)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const std::size_t window =
        options.last_n < 0 ? row.ids.size() : std::min(row.ids.size(), static_cast<std::size_t>(options.last_n));
    const std::vector<TokenId> back(row.ids.rbegin(), row.ids.rbegin() + static_cast<std::ptrdiff_t>(window));
    const auto breaks = std::ranges::find_first_of(back, options.breakers) - back.begin();
    const std::vector<std::int64_t> match = matches(back);
    std::vector<std::pair<TokenId, std::int64_t>> longest;  // the repetition that a token would prolong
    for (std::size_t i = 1; i < back.size(); ++i) {
      const auto length = std::min<std::int64_t>(match[i], breaks);
      if (length >= options.allowed_length) longest.emplace_back(back[i - 1], length);
    }
    std::ranges::sort(longest, std::greater<>());
    for (std::size_t i = 0; i < longest.size(); ++i) {
      const auto [id, length] = longest[i];
      if (i > 0 && longest[i - 1].first == id) continue;
      const double power = static_cast<double>(length - options.allowed_length);
      score_of(scores, id) -= static_cast<float>(options.multiplier * std::pow(options.base, power));
    }
  }
  // For each i how many items from i on equal those from 0 on, in linear time (Gusfield's Z).
  static std::vector<std::int64_t> matches(const std::vector<TokenId>& items) {
    const auto size = std::ssize(items);
    std::vector<std::int64_t> found(items.size());
    for (std::ptrdiff_t i = 1, begin = 0, end = 0; i < size; ++i) {
      auto& length = found[static_cast<std::size_t>(i)];
      if (i < end) length = std::min<std::int64_t>(end - i, found[static_cast<std::size_t>(i - begin)]);
      while (i + length < size &&
             items[static_cast<std::size_t>(length)] == items[static_cast<std::size_t>(i + length)])
        ++length;
      if (i + length > end) begin = i, end = i + length;
    }
    return found;
  }
  DryOptions options;
};

}  // namespace

Rule repetition_penalty(double penalty, std::int64_t ignored) {
  return std::make_unique<RepetitionPenalty>(penalty, ignored);
}
Rule encoder_repetition_penalty(double penalty) {
  return std::make_unique<EncoderRepetitionPenalty>(penalty);
}
Rule presence_frequency_penalty(double presence, double frequency) {
  return std::make_unique<PresenceFrequencyPenalty>(presence, frequency);
}
Rule diversity_penalty(double penalty) {
  return std::make_unique<DiversityPenalty>(penalty);
}
Rule sequence_bias(SequenceBias biases) {
  return std::make_unique<SequenceBiasRule>(std::move(biases));
}
Rule exponential_decay_length_penalty(std::int64_t start, double factor, std::vector<TokenId> end_ids) {
  return std::make_unique<ExponentialDecay>(start, factor, std::move(end_ids));
}
Rule dry(DryOptions options) {
  return std::make_unique<Dry>(std::move(options));
}

}  // namespace heed

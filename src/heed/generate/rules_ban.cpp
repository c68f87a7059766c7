#include <algorithm>
#include <limits>

#include "heed/base/error.h"
#include "heed/generate/rule.h"
#include "heed/generate/selection.h"

namespace heed {
namespace {

// Ids beyond the vocabulary cannot come anyway.
void forbid(std::span<const TokenId> ids, std::span<float> scores) {
  for (const TokenId id : ids) {
    if (static_cast<std::size_t>(id) < scores.size()) scores[static_cast<std::size_t>(id)] = kForbidden;
  }
}

// What followed in `text` wherever the last size - 1 ids stood in it.
void forbid_ngrams(std::span<const TokenId> text, std::span<const TokenId> ids, std::int64_t size,
                   std::span<float> scores) {
  const auto before = static_cast<std::size_t>(size) - 1;
  if (ids.size() < before) return;
  const std::span<const TokenId> last = ids.last(before);
  for (std::size_t i = before; i < text.size(); ++i) {
    if (std::ranges::equal(text.subspan(i - before, before), last)) forbid(text.subspan(i, 1), scores);
  }
}

struct NoRepeatNgram : LogitsRule {
  explicit NoRepeatNgram(std::int64_t tokens) : size(tokens) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    forbid_ngrams(row.ids, row.ids, size, scores);
  }
  std::int64_t size;
};

struct EncoderNoRepeatNgram : LogitsRule {
  explicit EncoderNoRepeatNgram(std::int64_t tokens) : size(tokens) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    forbid_ngrams(row.encoder_ids, row.ids, size, scores);
  }
  std::int64_t size;
};

// Tokens that may not come while the row's length lies in [begin, end).
struct Suppress : LogitsRule {
  Suppress(std::vector<TokenId> ids, std::int64_t from, std::int64_t to, bool only_new = false)
      : tokens(std::move(ids)), begin(from), end(to), counts_new(only_new) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const std::int64_t length = static_cast<std::int64_t>(row.ids.size()) - (counts_new ? row.prompt_length : 0);
    if (length >= begin && length < end) forbid(tokens, scores);
  }
  std::vector<TokenId> tokens;
  std::int64_t begin, end;
  bool counts_new;
};

struct ForcedTokens : LogitsRule {
  ForcedTokens(std::vector<TokenId> ids, std::int64_t at) : tokens(std::move(ids)), length(at) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    if (static_cast<std::int64_t>(row.ids.size()) != length) return;
    std::ranges::fill(scores, kForbidden);
    for (const TokenId id : tokens) scores[static_cast<std::size_t>(id)] = 0;
  }
  std::vector<TokenId> tokens;
  std::int64_t length;
};

struct PrefixAllowedTokens : LogitsRule {
  explicit PrefixAllowedTokens(AllowedTokens function) : allowed(std::move(function)) {}
  void apply(const RuleRow& row, std::span<float> scores) const override {
    const std::vector<TokenId> ids = allowed(row.ids);
    HEED_CHECK(!ids.empty(), "[generate] the function of allowed tokens allows none after ", row.ids.size(), " tokens");
    std::vector<float> kept(scores.size(), kForbidden);
    for (const TokenId id : ids) {
      HEED_CHECK(static_cast<std::size_t>(id) < scores.size(), "[generate] the function of allowed tokens allows ", id,
                 ", the vocabulary has ", scores.size());
      kept[static_cast<std::size_t>(id)] = scores[static_cast<std::size_t>(id)];
    }
    std::ranges::copy(kept, scores.begin());
  }
  AllowedTokens allowed;
};

constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();

}  // namespace

Rule no_repeat_ngram(std::int64_t size) {
  return std::make_unique<NoRepeatNgram>(size);
}
Rule encoder_no_repeat_ngram(std::int64_t size) {
  return std::make_unique<EncoderNoRepeatNgram>(size);
}
Rule bad_words(const std::vector<std::vector<TokenId>>& words, std::span<const TokenId> end_ids) {
  SequenceBias biases;
  for (const std::vector<TokenId>& word : words) {
    const bool end = word.size() == 1 && std::ranges::find(end_ids, word[0]) != end_ids.end();
    if (!end) biases.emplace_back(word, kForbidden);
  }
  return sequence_bias(std::move(biases));
}
Rule suppress_tokens(std::vector<TokenId> tokens) {
  return std::make_unique<Suppress>(std::move(tokens), 0, kAlways);
}
Rule suppress_tokens_at(std::vector<TokenId> tokens, std::int64_t length) {
  return std::make_unique<Suppress>(std::move(tokens), length, length + 1);
}
Rule min_length(std::int64_t length, std::vector<TokenId> end_ids) {
  return std::make_unique<Suppress>(std::move(end_ids), 0, length);
}
Rule min_new_tokens(std::int64_t count, std::vector<TokenId> end_ids) {
  // Rows shorter than their prompt exist in no search, and may not end either.
  return std::make_unique<Suppress>(std::move(end_ids), -kAlways, count, true);
}
Rule forced_tokens(std::vector<TokenId> tokens, std::int64_t length) {
  return std::make_unique<ForcedTokens>(std::move(tokens), length);
}
Rule prefix_allowed_tokens(AllowedTokens allowed) {
  return std::make_unique<PrefixAllowedTokens>(std::move(allowed));
}

}  // namespace heed

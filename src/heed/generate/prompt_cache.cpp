#include "heed/generate/prompt_cache.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::size_t kMostEntries = 256;  // each is looked at for every prompt

}  // namespace

std::int64_t common_length(std::span<const TokenId> a, std::span<const TokenId> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

PromptCache::PromptCache(DecodeState empty, std::int64_t most_bytes)
    : empty_(std::move(empty)), state_(empty_), most_bytes_(most_bytes) {
  HEED_CHECK(most_bytes >= 0, "[PromptCache] at most ", most_bytes, " bytes, expected 0 or more");
}

PromptCache::Place PromptCache::find(std::span<const TokenId> prompt) const {
  Place best;
  const std::span<const TokenId> all_but_last = prompt.first(prompt.empty() ? 0 : prompt.size() - 1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::int64_t length = common_length(all_but_last, entries_[i].tokens);
    if (length > best.length && state_.keeps(static_cast<std::int64_t>(i), length)) best = {i, length};
  }
  return best;
}

std::int64_t PromptCache::join(std::span<const TokenId> prompt, DecodeState& state) {
  const Place found = find(prompt);
  if (found.length == 0) {
    state.add_sequences(1);
  } else {
    state.add_fork(state_, static_cast<std::int64_t>(found.entry), found.length);
    entries_[found.entry].used = ++clock_;
  }
  return found.length;
}

void PromptCache::keep(std::span<const TokenId> tokens, const DecodeState& state, std::int64_t sequence) {
  if (most_bytes_ == 0 || tokens.empty()) return;
  HEED_CHECK_AS(internal, state.length(sequence) == std::ssize(tokens), "[PromptCache] ", tokens.size(),
                " tokens of a sequence that has ", state.length(sequence));
  for (std::size_t i = 0; i < entries_.size();) {
    const auto length = std::ssize(entries_[i].tokens);
    const std::int64_t common = common_length(tokens, entries_[i].tokens);
    if (common == std::ssize(tokens) && state_.keeps(static_cast<std::int64_t>(i), common)) {
      entries_[i].used = ++clock_;  // it has them already
      return;
    }
    if (common == length && state.keeps(sequence, length - 1)) {
      drop(i);  // the new one begins with it, and serves its prompt again
    } else {
      ++i;
    }
  }
  DecodeState alone = empty_;
  alone.add_fork(state, sequence, std::ssize(tokens));
  if (alone.bytes() > most_bytes_) return;
  state_.add_fork(alone, 0, std::ssize(tokens));
  entries_.push_back({{tokens.begin(), tokens.end()}, ++clock_});
  shrink();
}

void PromptCache::drop(std::size_t entry) {
  std::vector<std::int64_t> rest;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i != entry) rest.push_back(static_cast<std::int64_t>(i));
  }
  state_.reorder(rest);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(entry));
}

void PromptCache::shrink() {
  while (!entries_.empty() && (entries_.size() > kMostEntries || bytes() > most_bytes_)) {
    drop(static_cast<std::size_t>(std::ranges::min_element(entries_, {}, &Entry::used) - entries_.begin()));
  }
}

}  // namespace heed

// Tokens that a model has read, for prompts that begin alike: they share keys and values instead of computing them
// again. A token's state depends on the tokens up to it alone, so what comes out has the same bits either way.
#pragma once

#include <span>
#include <vector>

#include "heed/generate/rule.h"
#include "heed/nn/stack.h"

namespace heed {

// How many tokens two lists have in common before they differ.
std::int64_t common_length(std::span<const TokenId> a, std::span<const TokenId> b);

class PromptCache {
 public:
  // `empty` is the model's state before any token. Of more than `most_bytes` of keys and values, those that were used
  // least recently are dropped.
  PromptCache(DecodeState empty, std::int64_t most_bytes);

  // How many of the prompt's first tokens are known, without its last one: that one is read for its scores.
  std::int64_t known(std::span<const TokenId> prompt) const { return find(prompt).length; }
  // Adds a sequence to the state that begins with those; returns how many.
  std::int64_t join(std::span<const TokenId> prompt, DecodeState& state);
  // Remembers the tokens of a sequence of the state: all of them, in order.
  void keep(std::span<const TokenId> tokens, const DecodeState& state, std::int64_t sequence);

  std::int64_t bytes() const { return state_.bytes(); }

 private:
  struct Entry {
    std::vector<TokenId> tokens{};
    std::uint64_t used = 0;
  };
  struct Place {
    std::size_t entry = 0;
    std::int64_t length = 0;
  };
  Place find(std::span<const TokenId> prompt) const;
  void drop(std::size_t entry);
  void shrink();

  DecodeState empty_;
  DecodeState state_;  // of the entries, in their order
  std::vector<Entry> entries_;
  std::int64_t most_bytes_;
  std::uint64_t clock_ = 0;
};

}  // namespace heed

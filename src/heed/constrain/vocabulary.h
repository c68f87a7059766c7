// The tokens of a vocabulary by their bytes, as tries to walk a matcher over. Built once per tokenizer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/token_bytes.h"

namespace heed::constrain {

// A trie in depth-first order: the subtree of node i is [i, nodes[i].end).
struct ByteTrie {
  struct Node {
    std::uint32_t end;
    std::uint32_t first_token;  // of `tokens`, those with exactly these bytes
    std::uint32_t token_count;
    std::uint16_t depth;  // bytes from the root, 1 for the first
    std::uint8_t byte;
  };
  std::vector<Node> nodes;
  std::vector<std::int32_t> tokens;
  std::size_t longest = 0;  // bytes
};

class Vocabulary {
 public:
  // Special tokens, tokens without bytes and tokens of more than 65,535 bytes are in no trie.
  explicit Vocabulary(text::TokenBytes tokens);
  explicit Vocabulary(const text::Tokenizer& tokenizer) : Vocabulary(text::vocabulary_bytes(tokenizer)) {}

  std::size_t size() const { return tokens_.bytes.size(); }
  // Words of a mask with a bit for each token.
  std::size_t mask_words() const { return (size() + 63) / 64; }
  std::string_view bytes(std::int32_t token) const { return tokens_.bytes[static_cast<std::size_t>(token)]; }
  // Neither special nor empty.
  bool ordinary(std::int32_t token) const {
    const auto id = static_cast<std::size_t>(token);
    return id < size() && !tokens_.special[id] && !tokens_.bytes[id].empty();
  }
  // Short tokens and long ones apart: what short ones may do depends on less of the state.
  std::span<const ByteTrie> tries() const { return tries_; }

 private:
  text::TokenBytes tokens_;
  std::vector<ByteTrie> tries_;
};

}  // namespace heed::constrain

// Texts that are whole in time: of the tokens that may come next, those after which few enough tokens make the text
// whole.
//
// Of the ends that make a set whole in the fewest bytes one is chosen, the first by an order of bytes, so that what
// some of its bytes leave of it is the chosen end of the set that they lead to. The fewest tokens that spell it then
// become one fewer with each of them: who never lets this number grow beyond the tokens left comes to an end.
//
// Not for several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "heed/constrain/token_masks.h"

namespace heed::constrain {

class TokenBudget {
 public:
  // All must outlive the object.
  TokenBudget(Matcher& matcher, TokenMasks& masks, const Vocabulary& vocabulary);

  // What may come where `left` tokens may, this one included. A text that cannot be made whole with them goes on as if
  // there were more; one that is whole may be left without a token.
  std::shared_ptr<const Mask> allowed(StackSet set, std::uint64_t left);
  // So many tokens make the text whole, or perhaps fewer. Ends that the vocabulary cannot spell count by their bytes,
  // and so do very long ones.
  std::uint32_t tokens(StackSet set);

 private:
  // A byte, or 256 + the reference that names a token.
  using Symbol = std::uint32_t;
  // The chosen end of a set, as far as it had to be looked at.
  struct End {
    std::vector<StackSet> sets;  // before each symbol, and after the last
    std::vector<Symbol> symbols;
    std::size_t fresh = 0;  // sets before the first whose tokens are known
    bool broken = false;    // it would go deeper than allowed
  };

  bool in_time(StackSet set, std::uint64_t left);
  void walk(const ByteTrie& trie, StackSet set, std::uint64_t left, Mask& mask);
  void add_named(StackSet set, std::uint64_t left, Mask& mask);
  Symbol first_symbol(StackSet set) const;
  StackSet after(StackSet set, Symbol symbol);
  End chosen_end(StackSet set);
  std::uint32_t fewest(const End& end, std::size_t begin) const;
  std::uint32_t known(StackSet set) const { return set < known_.size() ? known_[set] : kUnknown; }

  static constexpr std::uint32_t kUnknown = ~0U, kUnspelled = kUnknown - 1;

  Matcher& matcher_;
  TokenMasks& masks_;
  const Vocabulary& vocabulary_;
  std::array<std::uint32_t, 256> order_{};             // of bytes: first those that are tokens
  std::vector<std::array<std::uint32_t, 256>> roots_;  // of each trie, the node of a first byte
  std::uint64_t longest_ = 1;                          // bytes of a token
  std::vector<std::uint32_t> known_;                   // by set
  std::vector<StackSet> path_;                         // scratch of a walk
};

}  // namespace heed::constrain

// Which tokens may follow a set of stacks: a bit for each, found by walking the tries of the vocabulary with the
// matcher, and kept, the latest used within a bound of memory.
//
// Most of the work is done per top frame, without what lies below it: tokens that stay inside its rule, and the places
// in the trie where the rule may have ended. Only below those places does the rest of a stack matter. A counter that no
// token of the trie can bring to its bounds is as good as any other such one.
//
// Not for several threads at once.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heed/constrain/matcher.h"
#include "heed/constrain/vocabulary.h"

namespace heed::constrain {

using Mask = std::vector<std::uint64_t>;

inline void set_bit(Mask& mask, std::int32_t token) {
  mask[static_cast<std::size_t>(token) >> 6] |= std::uint64_t{1} << (token & 63);
}

class TokenMasks {
 public:
  // `references[i]` is the token that reference i of the automaton names. Both must outlive the object.
  TokenMasks(Matcher& matcher, const Vocabulary& vocabulary, std::vector<std::int32_t> references);

  struct Allowed {
    Mask mask;
    std::uint32_t farthest = 0;  // Matcher::shortest after any of them is at most this
  };
  // Tokens after which the set is not dead.
  std::shared_ptr<const Allowed> allowed(StackSet set);
  StackSet accept(StackSet set, std::int32_t token);
  // Whether a reference of the automaton names the token.
  bool names(std::uint32_t reference, std::int32_t token) const;

 private:
  // Of one frame, `mask` has the tokens that are allowed whatever lies below.
  struct Part : Allowed {
    std::vector<std::uint32_t> exits;  // nodes of the trie after which the rule may have ended
    std::uint32_t reach = 0;           // Matcher::reach of all that was met
  };
  struct Entry {
    std::uint64_t key;
    std::shared_ptr<const Part> part;
  };

  void add_named(StackSet set, Part& part) const;
  // Frame by frame, from what is known of each; false, with nothing done, where that is not exact or not worth it.
  bool add_by_frames(std::size_t trie, StackSet set, Part& part);
  std::shared_ptr<const Part> inside(std::size_t trie, const Frame& frame);
  // Walks nodes [begin, end) from the set that their parent led to.
  void walk(const ByteTrie& trie, std::uint32_t begin, std::uint32_t end, StackSet set, Part& part, bool note_exits);
  std::shared_ptr<const Part> find(std::uint64_t key);
  void keep(std::uint64_t key, std::shared_ptr<const Part> part);

  Matcher& matcher_;
  const Vocabulary& vocabulary_;
  std::vector<std::int32_t> references_;
  std::vector<StackSet> path_;  // scratch: the set at each depth of a walk
  std::list<Entry> latest_;     // most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> places_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace heed::constrain

// A bounded memory of words already tokenized, one per thread: no locks, no allocation once it is there.
//
// A model keeps a WordCache as a key to its part; all models of a thread share the slots. A word has one slot, and a
// new word takes the place of the old one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/text/model.h"

namespace heed::text {

class WordCache {
 public:
  WordCache();
  // Appends the pieces of `word` and returns true when the cache has it.
  bool get(std::string_view word, std::vector<Piece>& pieces) const;
  // Remembers pieces[first ...) for `word`, when both are short enough.
  void put(std::string_view word, const std::vector<Piece>& pieces, std::size_t first) const;

 private:
  std::uint64_t owner_;  // never used twice in a process
};

}  // namespace heed::text

// N-grams of words or characters, counted by number: every n-gram that occurs gets one, so that texts are compared by
// lists of counts. The symbols of a text are numbers too: code points, or what WordNumbers gives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

class WordNumbers {
 public:
  // The words are viewed until clear().
  std::vector<std::uint32_t> of(std::span<const std::string_view> words);
  void clear() { numbers_.clear(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

class NgramTable {
 public:
  using Counts = std::vector<std::uint32_t>;  // by the number of the n-gram; those beyond the end are 0

  NgramTable();
  void clear();
  // How often the text has each n-gram of 1 to `order` symbols.
  Counts count(std::span<const std::uint32_t> symbols, std::size_t order);
  // How many symbols the n-gram has.
  std::size_t length(std::size_t ngram) const { return lengths_[ngram]; }

 private:
  // The n-gram that continues another (0: the empty one) by a symbol.
  std::uint32_t longer(std::uint32_t ngram, std::uint32_t symbol);
  std::size_t place_of(std::uint64_t key) const;
  void grow();

  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t ngram = 0;
    std::uint32_t round = 0;  // filled since the last clear() if this is round_
  };
  std::vector<Slot> slots_;  // a power of two, at most half of them filled
  std::vector<std::uint32_t> lengths_;
  std::uint32_t round_ = 1;
};

// Of each length from 1 to matches.size(): how many n-grams of one text the other has too.
void add_matches(const NgramTable& table, const NgramTable::Counts& a, const NgramTable::Counts& b,
                 std::span<double> matches);

// How many n-grams of this length a text has.
inline std::size_t ngram_total(std::size_t symbols, std::size_t length) {
  return symbols < length ? 0 : symbols - length + 1;
}

}  // namespace heed

// A text, a translation of it, and which words of the two belong together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/text/byte_range.h"

namespace heed::text {

struct WordPair {
  std::size_t source = 0, target = 0;  // numbers of words
  bool operator==(const WordPair&) const = default;
};

struct AlignedText {
  std::string source, target;
  std::vector<ByteRange> source_words, target_words;  // ascending, not empty, without overlap; gaps are no words
  std::vector<WordPair> alignment;                    // any number for a word, in any order

  // Throws invalid_argument for words and pairs that are not as said.
  void check() const;
  // The target words of each source word, ascending.
  std::vector<std::vector<std::size_t>> links() const;
  // The same with words that have none linked where no doubt is: runs of source words without a link, to the run of
  // target words without one between the links of their neighbours. Without any pair all words are linked in order.
  std::vector<std::vector<std::size_t>> completed_links() const;
};

// Numbers of the words, first to one after the last, that share bytes with the range.
ByteRange words_in(const std::vector<ByteRange>& words, ByteRange range);

}  // namespace heed::text

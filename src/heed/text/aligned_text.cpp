#include "heed/text/aligned_text.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::text {
namespace {

using Links = std::vector<std::vector<std::size_t>>;

void check_words(const std::vector<ByteRange>& words, const std::string& text, const char* which) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [begin, end] = words[i];
    HEED_CHECK(begin >= at && begin < end && end <= text.size(), "[aligned text] ", which, " word ", i, " is bytes ",
               begin, " to ", end, ", expected some between ", at, " and ", text.size());
    at = end;
  }
}

// Source words `first` to `last` with target words in order; each has one at least.
void link_in_order(ByteRange source, ByteRange target, Links& links) {
  const std::size_t from = source.end - source.begin, to = target.end - target.begin;
  for (std::size_t i = 0; i < from; ++i) links[source.begin + i].push_back(target.begin + i * to / from);
  for (std::size_t i = 0; i < to; ++i) links[source.begin + i * from / to].push_back(target.begin + i);
  for (std::size_t i = source.begin; i < source.end; ++i) {
    std::ranges::sort(links[i]);
    links[i].erase(std::unique(links[i].begin(), links[i].end()), links[i].end());
  }
}

}  // namespace

void AlignedText::check() const {
  check_words(source_words, source, "source");
  check_words(target_words, target, "target");
  for (const WordPair& pair : alignment) {
    HEED_CHECK(pair.source < source_words.size() && pair.target < target_words.size(), "[aligned text] pair ",
               pair.source, "-", pair.target, " of ", source_words.size(), " source words and ", target_words.size(),
               " target words");
  }
}

Links AlignedText::links() const {
  Links links(source_words.size());
  for (const WordPair& pair : alignment) links[pair.source].push_back(pair.target);
  for (auto& targets : links) {
    std::ranges::sort(targets);
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  }
  return links;
}

Links AlignedText::completed_links() const {
  Links links = this->links();
  std::vector<bool> taken(target_words.size(), false);
  for (const auto& targets : links) {
    for (const std::size_t word : targets) taken[word] = true;
  }
  for (std::size_t begin = 0; begin < links.size();) {
    std::size_t end = begin;
    while (end < links.size() && links[end].empty()) ++end;
    if (end > begin) {
      const std::size_t low = begin == 0 ? 0 : links[begin - 1].back() + 1;
      const std::size_t high = end == links.size() ? target_words.size() : links[end].front();
      std::size_t at = low;
      while (at < high && !taken[at]) ++at;
      if (at == high && low < high) {
        link_in_order({begin, end}, {low, high}, links);
        std::fill(taken.begin() + static_cast<std::ptrdiff_t>(low), taken.begin() + static_cast<std::ptrdiff_t>(high),
                  true);
      }
    }
    begin = end + 1;
  }
  return links;
}

ByteRange words_in(const std::vector<ByteRange>& words, ByteRange range) {
  const auto first = std::ranges::partition_point(words, [&](ByteRange word) { return word.end <= range.begin; });
  const auto last = std::ranges::partition_point(words, [&](ByteRange word) { return word.begin < range.end; });
  const auto begin = static_cast<std::size_t>(first - words.begin());
  return {begin, std::max(begin, static_cast<std::size_t>(last - words.begin()))};
}

}  // namespace heed::text

#include "heed/constrain/vocabulary.h"

#include <algorithm>

namespace heed::constrain {
namespace {

constexpr std::size_t kShort = 16;
constexpr std::size_t kLongest = 65535;

ByteTrie make_trie(std::vector<std::int32_t> ids, const std::vector<std::string>& bytes) {
  const auto bytes_of = [&](std::int32_t id) -> const std::string& { return bytes[static_cast<std::size_t>(id)]; };
  std::sort(ids.begin(), ids.end(),
            [&](std::int32_t a, std::int32_t b) { return std::tie(bytes_of(a), a) < std::tie(bytes_of(b), b); });
  ByteTrie trie;
  std::vector<std::uint32_t> path;  // nodes from the root to the last one made
  const auto cut_to = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back())
      trie.nodes[path.back()].end = static_cast<std::uint32_t>(trie.nodes.size());
  };
  std::string_view last;
  for (const std::int32_t id : ids) {
    const std::string_view text = bytes_of(id);
    trie.longest = std::max(trie.longest, text.size());
    const auto common = static_cast<std::size_t>(
        std::mismatch(last.begin(), last.end(), text.begin(), text.end()).second - text.begin());
    cut_to(common);
    for (std::size_t i = common; i < text.size(); ++i) {
      path.push_back(static_cast<std::uint32_t>(trie.nodes.size()));
      trie.nodes.push_back({0, static_cast<std::uint32_t>(trie.tokens.size()), 0, static_cast<std::uint16_t>(i + 1),
                            static_cast<std::uint8_t>(text[i])});
    }
    trie.tokens.push_back(id);
    ++trie.nodes[path.back()].token_count;
    last = text;
  }
  cut_to(0);
  return trie;
}

}  // namespace

Vocabulary::Vocabulary(text::TokenBytes tokens) : tokens_(std::move(tokens)) {
  std::vector<std::int32_t> shorter, longer;
  for (std::size_t id = 0; id < size(); ++id) {
    const std::size_t length = tokens_.bytes[id].size();
    if (tokens_.special[id] || length == 0 || length > kLongest) continue;
    (length <= kShort ? shorter : longer).push_back(static_cast<std::int32_t>(id));
  }
  for (auto* ids : {&shorter, &longer}) {
    if (!ids->empty()) tries_.push_back(make_trie(std::move(*ids), tokens_.bytes));
  }
}

}  // namespace heed::constrain

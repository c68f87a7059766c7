// A trie over the bytes of tokens, as a double array: the child of `node` by `byte` is cell base[node] + byte when
// that cell names `node` as its parent. One step is one load.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::text {

class Trie {
 public:
  static constexpr std::int32_t kNone = -1;

  Trie() = default;
  // Keys with values >= 0. Empty keys are left out; of equal keys the last counts.
  explicit Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

  static constexpr std::int32_t root() { return 0; }
  std::int32_t child(std::int32_t node, char byte) const {
    const std::int32_t cell = cells_[static_cast<std::size_t>(node)].base + static_cast<unsigned char>(byte);
    return cells_[static_cast<std::size_t>(cell)].parent == node ? cell : kNone;
  }
  // From `node` along all bytes; kNone when that leaves the trie.
  std::int32_t walk(std::int32_t node, std::string_view bytes) const {
    for (std::size_t i = 0; i < bytes.size() && node != kNone; ++i) node = child(node, bytes[i]);
    return node;
  }
  // The value of the key that ends at `node`, or kNone.
  std::int32_t value(std::int32_t node) const { return cells_[static_cast<std::size_t>(node)].value; }
  // Calls visit(end, value) for each key that `text` has from `begin` to `end`, the shortest first.
  template <class Visit>
  void for_each_at(std::string_view text, std::size_t begin, const Visit& visit) const {
    std::int32_t node = root();
    for (std::size_t end = begin; end < text.size();) {
      node = child(node, text[end++]);
      if (node == kNone) return;
      if (value(node) != kNone) visit(end, value(node));
    }
  }

 private:
  struct Cell {
    std::int32_t base = 0;        // always a valid start: base + 255 is a cell
    std::int32_t parent = kNone;  // kNone: free (and the root)
    std::int32_t value = kNone;
  };
  class Builder;
  std::vector<Cell> cells_ = std::vector<Cell>(256);
};

}  // namespace heed::text

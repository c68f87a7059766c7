#include "heed/text/trie.h"

#include <algorithm>

namespace heed::text {

// Places the children of one node after the other, each set at the first of the next few free cells where it fits.
// The bound keeps building linear; sets that fit nowhere near go after the last used cell.
class Trie::Builder {
 public:
  explicit Builder(std::vector<Cell>& cells) : cells_(cells) { cells_.assign(512, Cell{}); }

  std::int32_t place(std::int32_t node, const std::vector<unsigned char>& bytes) {
    const std::int32_t base = find_base(bytes);
    reserve(base);
    cells_[static_cast<std::size_t>(node)].base = base;
    for (const unsigned char byte : bytes) {
      const std::int32_t cell = base + byte;
      cells_[static_cast<std::size_t>(cell)].parent = node;
      last_used_ = std::max(last_used_, cell);
    }
    while (taken(first_free_)) ++first_free_;
    return base;
  }

  // Every node's base + 255 must be a cell, also that of leaves (base 0).
  void finish() { reserve(last_used_ + 1); }

 private:
  static constexpr int kTries = 64, kSteps = 1024;

  bool taken(std::int32_t cell) const {
    return cell == root() ||
           (static_cast<std::size_t>(cell) < cells_.size() && cells_[static_cast<std::size_t>(cell)].parent != kNone);
  }
  std::int32_t find_base(const std::vector<unsigned char>& bytes) {
    std::int32_t cell = first_free_;
    for (int steps = 0, tries = 0; tries < kTries && cell <= last_used_; ++cell, ++steps) {
      if (steps == kSteps) {  // crowded: start further on from now
        first_free_ = cell - kSteps / 2;
        break;
      }
      if (taken(cell)) continue;
      ++tries;
      const std::int32_t base = cell - bytes.front();
      if (base >= 0 && std::ranges::none_of(bytes, [&](unsigned char byte) { return taken(base + byte); })) return base;
    }
    return std::max(0, last_used_ + 1 - bytes.front());
  }
  void reserve(std::int32_t base) {
    const std::size_t needed = static_cast<std::size_t>(base) + 256;
    if (cells_.size() < needed) cells_.resize(std::max(needed, cells_.size() + cells_.size() / 2));
  }

  std::vector<Cell>& cells_;
  std::int32_t first_free_ = 1, last_used_ = 0;
};

Trie::Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys) {
  std::erase_if(keys, [](const auto& key) { return key.first.empty(); });
  std::ranges::stable_sort(keys, {}, &std::pair<std::string_view, std::int32_t>::first);
  // Keys [begin, end) agree in their first `depth` bytes and lead to `node`.
  struct Range {
    std::int32_t node;
    std::size_t begin, end, depth;
  };
  Builder builder(cells_);
  std::vector<Range> open{{root(), 0, keys.size(), 0}};
  std::vector<unsigned char> bytes;
  std::vector<std::size_t> starts;
  while (!open.empty()) {
    Range range = open.back();
    open.pop_back();
    for (; range.begin < range.end && keys[range.begin].first.size() == range.depth; ++range.begin) {
      cells_[static_cast<std::size_t>(range.node)].value = keys[range.begin].second;
    }
    if (range.begin == range.end) continue;
    bytes.clear();
    starts.clear();
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const auto byte = static_cast<unsigned char>(keys[i].first[range.depth]);
      if (bytes.empty() || bytes.back() != byte) {
        bytes.push_back(byte);
        starts.push_back(i);
      }
    }
    starts.push_back(range.end);
    const std::int32_t base = builder.place(range.node, bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      open.push_back({base + bytes[i], starts[i], starts[i + 1], range.depth + 1});
    }
  }
  builder.finish();
  cells_.shrink_to_fit();
}

}  // namespace heed::text

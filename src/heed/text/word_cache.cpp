#include "heed/text/word_cache.h"

#include <array>
#include <atomic>
#include <cstring>

#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

constexpr std::size_t kSlots = 1 << 14, kMaxBytes = 36, kMaxPieces = 8;

struct Slot {
  std::uint64_t owner = 0;  // 0: free
  std::array<Piece, kMaxPieces> pieces;
  std::uint8_t bytes, count;
  std::array<char, kMaxBytes> word;
};

Slot& slot_of(std::string_view word, std::uint64_t owner) {
  thread_local std::vector<Slot> slots(kSlots);
  return slots[(hash_bytes(word) + owner * 0x9E3779B97F4A7C15u) >> 20 & (kSlots - 1)];
}

}  // namespace

WordCache::WordCache() {
  static std::atomic<std::uint64_t> owners{0};
  owner_ = ++owners;
}

bool WordCache::get(std::string_view word, std::vector<Piece>& pieces) const {
  if (word.size() > kMaxBytes) return false;
  const Slot& slot = slot_of(word, owner_);
  if (slot.owner != owner_ || slot.bytes != word.size()) return false;
  if (std::memcmp(slot.word.data(), word.data(), word.size()) != 0) return false;
  pieces.insert(pieces.end(), slot.pieces.begin(), slot.pieces.begin() + slot.count);
  return true;
}

void WordCache::put(std::string_view word, const std::vector<Piece>& pieces, std::size_t first) const {
  const std::size_t count = pieces.size() - first;
  if (word.size() > kMaxBytes || count > kMaxPieces) return;
  Slot& slot = slot_of(word, owner_);
  slot.owner = owner_;
  slot.bytes = static_cast<std::uint8_t>(word.size());
  slot.count = static_cast<std::uint8_t>(count);
  std::memcpy(slot.word.data(), word.data(), word.size());
  std::copy(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end(), slot.pieces.begin());
}

}  // namespace heed::text

// The tokens of a model and their ids, both ways: all texts in one arena, ids by an open-addressing table over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

// 64 bits that depend on every byte. Not proof against chosen bytes: tables that use it compare them.
std::uint64_t hash_bytes(std::string_view bytes);

class Vocabulary {
 public:
  // Ids in files stay below this, so that a hostile id cannot ask for gigabytes.
  static constexpr std::int32_t kMaxIds = 1 << 24;

  Vocabulary() = default;
  // {"token": id, ...}, as WordPiece, BPE and WordLevel have it. Ids may have gaps. Errors start with `context`.
  static Vocabulary from_json(const Json& object, std::string_view context);

  // A token that is there already moves to the new id; when two tokens have one id, its text is that of the later.
  void add(std::string_view token, std::int32_t id, std::string_view context);

  std::optional<std::int32_t> find(std::string_view token) const;
  // Throws invalid_argument out of range; "" for a gap.
  std::string_view token(std::int32_t id) const;
  std::int32_t size() const { return static_cast<std::int32_t>(by_id_.size()); }     // highest id + 1
  std::int32_t count() const { return static_cast<std::int32_t>(entries_.size()); }  // tokens
  // Calls visit(token, id) for each token, in the order they were added.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Entry& entry : entries_) visit(text(entry), entry.id);
  }
  Json to_json() const;

 private:
  struct Entry {
    std::uint32_t offset, length;
    std::int32_t id;
    std::uint32_t hash;
  };
  std::string_view text(const Entry& entry) const { return {arena_.data() + entry.offset, entry.length}; }
  std::size_t slot_of(std::string_view token, std::uint64_t hash) const;
  void grow();

  std::string arena_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> by_id_;   // entry of an id, -1: gap
  std::vector<std::uint32_t> slots_;  // entry + 1, 0: free; a power of two
};

}  // namespace heed::text

#include "heed/text/vocabulary.h"

#include <cstring>
#include <limits>

#include "heed/base/random.h"

namespace heed::text {

std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = bytes.size() * 0x9E3779B97F4A7C15u;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left > 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
    hash ^= hash >> 29;
  }
  std::uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return detail::mix64(hash ^ word);
}

Vocabulary Vocabulary::from_json(const Json& object, std::string_view context) {
  HEED_CHECK_AS(bad_format, object.is_object(), context, ": vocab is ", heed::detail::json_kind(object),
                ", expected an object of token: id");
  Vocabulary vocabulary;
  for (const auto& [token, id] : object.items()) {
    vocabulary.add(token, json_as<std::int32_t>(id, "id of \"" + token + "\" in vocab", context), context);
  }
  return vocabulary;
}

std::size_t Vocabulary::slot_of(std::string_view token, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == static_cast<std::uint32_t>(hash >> 32) && text(entry) == token) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Vocabulary::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::string_view token = text(entries_[i]);
    slots_[slot_of(token, hash_bytes(token))] = static_cast<std::uint32_t>(i + 1);
  }
}

void Vocabulary::add(std::string_view token, std::int32_t id, std::string_view context) {
  HEED_CHECK_AS(bad_format, id >= 0 && id < kMaxIds, context, ": id of \"", token, "\" is ", id,
                ", expected an integer from 0 to ", kMaxIds - 1);
  HEED_CHECK_AS(bad_format, arena_.size() + token.size() <= std::numeric_limits<std::uint32_t>::max(), context,
                ": the tokens have more than 4 GB of text");
  if (slots_.size() < 2 * (entries_.size() + 1)) grow();
  const std::uint64_t hash = hash_bytes(token);
  const std::size_t slot = slot_of(token, hash);
  std::int32_t index = static_cast<std::int32_t>(slots_[slot]) - 1;
  if (index < 0) {
    index = static_cast<std::int32_t>(entries_.size());
    entries_.push_back({static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(token.size()), id,
                        static_cast<std::uint32_t>(hash >> 32)});
    arena_.append(token);
    slots_[slot] = static_cast<std::uint32_t>(index + 1);
  } else {
    Entry& entry = entries_[static_cast<std::size_t>(index)];
    if (by_id_[static_cast<std::size_t>(entry.id)] == index) by_id_[static_cast<std::size_t>(entry.id)] = -1;
    entry.id = id;
  }
  if (id >= size()) by_id_.resize(static_cast<std::size_t>(id) + 1, -1);
  by_id_[static_cast<std::size_t>(id)] = index;
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t found = slots_[slot_of(token, hash_bytes(token))];
  if (found == 0) return std::nullopt;
  return entries_[found - 1].id;
}

std::string_view Vocabulary::token(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size(), "[token_of] id ", id, " is out of range, expected 0 to ", size() - 1);
  const std::int32_t index = by_id_[static_cast<std::size_t>(id)];
  return index < 0 ? std::string_view() : text(entries_[static_cast<std::size_t>(index)]);
}

Json Vocabulary::to_json() const {
  Json object = Json::object();
  for_each([&](std::string_view token, std::int32_t id) { object[std::string(token)] = id; });
  return object;
}

}  // namespace heed::text

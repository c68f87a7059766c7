#include "heed/text/bpe.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/text/byte_token.h"

namespace heed::text {
namespace {

// Words of up to this many characters are merged by scanning for the lowest rank, longer ones by a heap.
constexpr std::size_t kShort = 24;

thread_local RandomStream* dropout_source = nullptr;

std::uint64_t pair_hash(std::int32_t left, std::int32_t right) {
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  return key * 0x9E3779B97F4A7C15u >> 20;
}

}  // namespace

DropoutSource::DropoutSource(RandomStream& random) : previous_(std::exchange(dropout_source, &random)) {}
DropoutSource::~DropoutSource() {
  dropout_source = previous_;
}

Bpe::Bpe(Vocabulary vocabulary, const Merges& merges, BpeOptions options, const std::string& file)
    : VocabularyModel(std::move(vocabulary)), options_(std::move(options)) {
  std::size_t slots = 16;
  while (slots < 2 * merges.size()) slots *= 2;
  merges_.resize(slots);
  const std::size_t prefix = options_.continuing_subword_prefix.value_or("").size();
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string& left = merges[rank].first;
    const std::string& right = merges[rank].second;
    const auto id_of_part = [&](const std::string& token) {
      const std::optional<std::int32_t> id = vocabulary_.find(token);
      HEED_CHECK_AS(bad_format, id, file, ": merge ", rank, " (\"", left, "\" \"", right, "\") needs the token \"",
                    token, "\", which is not in the vocabulary");
      return *id;
    };
    const std::int32_t a = id_of_part(left), b = id_of_part(right);
    HEED_CHECK_AS(bad_format, right.size() >= prefix, file, ": merge ", rank, ": \"", right,
                  "\" is shorter than the continuing_subword_prefix");
    slot_of(a, b) = {a, b, static_cast<std::int32_t>(rank), id_of_part(left + right.substr(prefix))};
  }
  plain_ = prefix == 0 && options_.end_of_word_suffix.value_or("").empty();
  for (std::size_t c = 0; c < ascii_.size(); ++c) {
    ascii_[c] = vocabulary_.find(std::string(1, static_cast<char>(c))).value_or(kNone);
  }
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
    bytes_[byte] = vocabulary_.find(byte_token(byte)).value_or(kNone);
  }
  if (options_.unk_token) unknown_ = vocabulary_.find(*options_.unk_token);
}

Bpe::Merge& Bpe::slot_of(std::int32_t left, std::int32_t right) {
  const std::size_t mask = merges_.size() - 1;
  std::size_t slot = pair_hash(left, right) & mask;
  while (merges_[slot].left != kNone && (merges_[slot].left != left || merges_[slot].right != right)) {
    slot = (slot + 1) & mask;
  }
  return merges_[slot];
}

const Bpe::Merge* Bpe::find_merge(std::int32_t left, std::int32_t right) const {
  const std::size_t mask = merges_.size() - 1;
  for (std::size_t slot = pair_hash(left, right) & mask; merges_[slot].left != kNone; slot = (slot + 1) & mask) {
    if (merges_[slot].left == left && merges_[slot].right == right) return &merges_[slot];
  }
  return nullptr;
}

std::optional<std::int32_t> Bpe::character_id(std::string_view character, bool first, bool last) const {
  if (plain_) {
    if (character.size() > 1) return vocabulary_.find(character);
    const std::int32_t id = ascii_[static_cast<unsigned char>(character[0])];
    return id == kNone ? std::nullopt : std::optional(id);
  }
  std::string token = first ? "" : options_.continuing_subword_prefix.value_or("");
  token += character;
  if (last) token += options_.end_of_word_suffix.value_or("");
  return vocabulary_.find(token);
}

// With the prefix and the suffix, as HuggingFace does it.
bool Bpe::add_bytes(std::string_view character, bool first, bool last, std::vector<Symbol>& symbols) const {
  std::string token = first ? "" : options_.continuing_subword_prefix.value_or("");
  token += character;
  if (last) token += options_.end_of_word_suffix.value_or("");
  const auto id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (std::ranges::any_of(token, [&](char byte) { return id(byte) == kNone; })) return false;
  for (const char byte : token) symbols.push_back({id(byte), 1, 0, 0});
  return true;
}

// The lengths are what HuggingFace counts: without an unknown token, characters that are no tokens vanish and those
// after them move up; and an unknown token waits after the bytes of a fallback.
void Bpe::split(std::string_view word, std::vector<Symbol>& symbols) const {
  symbols.clear();
  std::uint32_t unknown_bytes = 0;
  const auto flush_unknown = [&] {
    if (unknown_bytes > 0) symbols.push_back({*unknown_, unknown_bytes, 0, 0});
    unknown_bytes = 0;
  };
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = static_cast<unsigned char>(word[at]) < 0x80 ? 1 : utf8_decode(word, at).length;
    const std::string_view character = word.substr(at, bytes);
    const bool first = at == 0, last = at + bytes == word.size();
    at += bytes;
    if (const std::optional<std::int32_t> id = character_id(character, first, last)) {
      flush_unknown();
      symbols.push_back({*id, static_cast<std::uint32_t>(bytes), 0, 0});
    } else if (!(options_.byte_fallback && add_bytes(character, first, last, symbols)) && options_.unk_token) {
      HEED_CHECK(unknown_, "[BPE] unk_token \"", *options_.unk_token, "\" is not in the vocabulary");
      if (!options_.fuse_unk) flush_unknown();
      unknown_bytes += static_cast<std::uint32_t>(bytes);
    }
  }
  flush_unknown();
}

void Bpe::merge_short(std::vector<Symbol>& symbols) const {
  constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
  std::array<const Merge*, kShort> merge;  // of symbol i with the next
  std::size_t count = symbols.size();
  const auto update = [&](std::size_t i) { merge[i] = find_merge(symbols[i].id, symbols[i + 1].id); };
  for (std::size_t i = 0; i + 1 < count; ++i) update(i);
  while (count > 1) {
    std::int32_t rank = kNever;
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (merge[i] && merge[i]->rank < rank) {
        rank = merge[i]->rank;
        best = i;
      }
    }
    if (rank == kNever) break;
    symbols[best].id = merge[best]->result;
    symbols[best].length += symbols[best + 1].length;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      merge[i] = merge[i + 1 < kShort ? i + 1 : i];
    }
    if (best > 0) update(best - 1);
    if (best + 1 < count) update(best);
  }
  symbols.resize(count);
}

// n log n for a word of any length. An entry of the queue may be out of date: it counts only while its place still
// holds a pair that makes the same token.
void Bpe::merge_long(std::vector<Symbol>& symbols, RandomStream* random) const {
  struct Candidate {
    std::int32_t rank, place, result;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  std::vector<Candidate> passed_over;
  const auto count = static_cast<std::int32_t>(symbols.size());
  const auto symbol = [&](std::int32_t place) -> Symbol& { return symbols[static_cast<std::size_t>(place)]; };
  const auto propose = [&](std::int32_t place) {
    if (symbol(place).next < 0) return;
    const Merge* merge = find_merge(symbol(place).id, symbol(symbol(place).next).id);
    if (merge) queue.push({merge->rank, place, merge->result});
  };
  for (std::int32_t i = 0; i < count; ++i) {
    symbol(i).previous = i - 1;
    symbol(i).next = i + 1 < count ? i + 1 : kNone;
  }
  for (std::int32_t i = 0; i < count; ++i) propose(i);
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    if (random && random->uniform_float() < *options_.dropout) {
      passed_over.push_back(top);
      continue;
    }
    for (const Candidate& candidate : passed_over) queue.push(candidate);
    passed_over.clear();
    Symbol& left = symbol(top.place);
    if (left.length == 0 || left.next < 0) continue;
    Symbol& right = symbol(left.next);
    const Merge* merge = find_merge(left.id, right.id);
    if (!merge || merge->result != top.result) continue;
    left.id = top.result;
    left.length += right.length;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0) symbol(left.next).previous = top.place;
    if (left.previous >= 0) propose(left.previous);
    propose(top.place);
  }
  std::erase_if(symbols, [](const Symbol& s) { return s.length == 0; });
}

void Bpe::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  if (word.empty()) return;
  const auto size = static_cast<std::uint32_t>(word.size());
  if (options_.ignore_merges) {
    if (const std::optional<std::int32_t> id = vocabulary_.find(word)) {
      pieces.push_back({*id, 0, size});
      return;
    }
  }
  const bool dropout = options_.dropout.value_or(0) > 0;
  if (!dropout && cache_.get(word, pieces)) return;
  thread_local std::vector<Symbol> symbols;
  split(word, symbols);
  if (dropout) {
    RandomStream of_word{0, stream_id("dropout", word), 0};
    merge_long(symbols, dropout_source ? dropout_source : &of_word);
  } else if (symbols.size() <= kShort) {
    merge_short(symbols);
  } else {
    merge_long(symbols, nullptr);
  }
  const std::size_t first = pieces.size();
  std::uint32_t at = 0;
  for (const Symbol& s : symbols) {
    pieces.push_back({s.id, std::min(at, size), std::min(at + s.length, size)});
    at += s.length;
  }
  if (!dropout) cache_.put(word, pieces, first);
}

Json Bpe::to_json() const {
  std::vector<const Merge*> ranked;
  for (const Merge& merge : merges_) {
    if (merge.left != kNone) ranked.push_back(&merge);
  }
  std::ranges::sort(ranked, {}, &Merge::rank);
  Json merges = Json::array();
  for (const Merge* merge : ranked) {
    merges.push_back({std::string(token_of(merge->left)), std::string(token_of(merge->right))});
  }
  const auto text = [](const std::optional<std::string>& value) { return value ? Json(*value) : Json(); };
  return {{"type", "BPE"},
          {"dropout", options_.dropout ? Json(*options_.dropout) : Json()},
          {"unk_token", text(options_.unk_token)},
          {"continuing_subword_prefix", text(options_.continuing_subword_prefix)},
          {"end_of_word_suffix", text(options_.end_of_word_suffix)},
          {"fuse_unk", options_.fuse_unk},
          {"byte_fallback", options_.byte_fallback},
          {"ignore_merges", options_.ignore_merges},
          {"vocab", vocabulary_.to_json()},
          {"merges", std::move(merges)}};
}

}  // namespace heed::text

#include "heed/text/word_piece.h"

#include <utility>

#include "heed/base/utf8.h"

namespace heed::text {
namespace {

Trie make_trie(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  vocabulary.for_each([&](std::string_view token, std::int32_t id) { keys.emplace_back(token, id); });
  return Trie(std::move(keys));
}

}  // namespace

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options)
    : VocabularyModel(std::move(vocabulary)),
      options_(std::move(options)),
      trie_(make_trie(vocabulary_)),
      continuation_(trie_.walk(Trie::root(), options_.continuing_subword_prefix)),
      unknown_(vocabulary_.find(options_.unk_token)) {}

// Tokens are whole UTF-8, so a match that starts at a character ends at one.
void WordPiece::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  const std::size_t first = pieces.size(), size = word.size();
  const auto limit = static_cast<std::size_t>(options_.max_input_chars_per_word);
  bool known = size <= limit || utf8_length(word) <= limit;
  for (std::size_t begin = 0; known && begin < size;) {
    std::int32_t node = begin == 0 ? Trie::root() : continuation_;
    std::int32_t id = Trie::kNone;
    std::size_t end = begin;
    for (std::size_t at = begin; node != Trie::kNone && at < size;) {
      node = trie_.child(node, word[at++]);
      if (node != Trie::kNone && trie_.value(node) != Trie::kNone) {
        id = trie_.value(node);
        end = at;
      }
    }
    known = id != Trie::kNone;
    if (known) pieces.push_back({id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    begin = end;
  }
  if (known) return;
  HEED_CHECK(unknown_, "[WordPiece] a word has no tokens and the vocabulary has no \"", options_.unk_token, "\"");
  pieces.resize(first);
  pieces.push_back({*unknown_, 0, static_cast<std::uint32_t>(size)});
}

Json WordPiece::to_json() const {
  return {{"type", "WordPiece"},
          {"unk_token", options_.unk_token},
          {"continuing_subword_prefix", options_.continuing_subword_prefix},
          {"max_input_chars_per_word", options_.max_input_chars_per_word},
          {"vocab", vocabulary_.to_json()}};
}

}  // namespace heed::text

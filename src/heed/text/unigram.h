// Unigram (SentencePiece): every token has a log probability, and a word becomes the tokens with the highest sum.
#pragma once

#include <array>

#include "heed/text/model.h"
#include "heed/text/trie.h"
#include "heed/text/vocabulary.h"
#include "heed/text/word_cache.h"

namespace heed::text {

struct ScoredToken {
  std::string token;
  double score;  // log probability
};

class Unigram final : public Model {
 public:
  // Ids are places in the list. Errors start with `file`.
  Unigram(std::vector<ScoredToken> tokens, std::optional<std::int32_t> unk_id, bool byte_fallback,
          const std::string& file);

  // Neighbouring unknown characters are one token, whose text is theirs. With byte fallback they become their bytes,
  // each with the offsets of the whole.
  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::int32_t surface_id() const override { return unknown_.value_or(kNone); }
  std::optional<std::int32_t> id_of(std::string_view token) const override { return vocabulary_.find(token); }
  std::string_view token_of(std::int32_t id) const override;
  std::int32_t size() const override { return static_cast<std::int32_t>(tokens_.size()); }
  std::int32_t count() const override { return size(); }
  Json to_json() const override;

 private:
  static constexpr std::int32_t kNone = -1, kMissing = -2;  // kMissing: unknown, and there is no token for that
  // The best way to cover the bytes up to a place.
  struct Best {
    double score;
    std::int32_t id;
    std::uint32_t begin;  // of its last token
  };

  void find_best(std::string_view word, std::vector<Best>& best) const;
  void add_piece(std::string_view word, std::uint32_t begin, std::uint32_t end, std::vector<Piece>& pieces) const;

  std::vector<ScoredToken> tokens_;
  std::vector<double> scores_;  // of the tokens, as HuggingFace would read them
  std::optional<std::int32_t> unknown_;
  bool byte_fallback_;
  Vocabulary vocabulary_;
  Trie trie_;
  double unknown_score_;
  std::array<std::int32_t, 256> bytes_;  // "<0x00>" ..., kNone where absent
  WordCache cache_;
};

}  // namespace heed::text

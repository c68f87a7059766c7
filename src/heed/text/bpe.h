// Byte-pair encoding: a word starts as its characters, then the pair of neighbours with the lowest rank is merged until
// no pair has one.
#pragma once

#include <array>

#include "heed/base/random.h"
#include "heed/text/vocabulary_model.h"
#include "heed/text/word_cache.h"

namespace heed::text {

struct BpeOptions {
  std::optional<double> dropout;  // chance to pass over a merge, 0 to 1
  std::optional<std::string> unk_token;
  std::optional<std::string> continuing_subword_prefix;  // before characters that do not start the word
  std::optional<std::string> end_of_word_suffix;
  bool fuse_unk = false;       // neighbouring unknown characters become one token
  bool byte_fallback = false;  // an unknown character becomes its bytes, "<0xE4>", where the vocabulary has them all
  bool ignore_merges = false;  // a word that is a token is that token
};

// Where this thread's models with dropout draw from while it lives. Without one the draws depend on the word alone, so
// that one text always has the same tokens.
class DropoutSource {
 public:
  explicit DropoutSource(RandomStream& random);
  ~DropoutSource();
  DropoutSource(const DropoutSource&) = delete;
  DropoutSource& operator=(const DropoutSource&) = delete;

 private:
  RandomStream* previous_;
};

class Bpe final : public VocabularyModel {
 public:
  using Merges = std::vector<std::pair<std::string, std::string>>;
  // Both sides of a merge and what they make must be tokens; throws bad_format with `file` otherwise.
  Bpe(Vocabulary vocabulary, const Merges& merges, BpeOptions options, const std::string& file);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  Json to_json() const override;

 private:
  static constexpr std::int32_t kNone = -1;
  struct Merge {
    std::int32_t left = kNone, right = kNone;  // left kNone: a free slot
    std::int32_t rank, result;
  };
  struct Symbol {
    std::int32_t id;
    std::uint32_t length;  // bytes; 0: merged into a symbol before it
    std::int32_t previous, next;
  };

  const Merge* find_merge(std::int32_t left, std::int32_t right) const;
  Merge& slot_of(std::int32_t left, std::int32_t right);
  std::optional<std::int32_t> character_id(std::string_view character, bool first, bool last) const;
  bool add_bytes(std::string_view character, bool first, bool last, std::vector<Symbol>& symbols) const;
  void split(std::string_view word, std::vector<Symbol>& symbols) const;
  void merge_short(std::vector<Symbol>& symbols) const;
  void merge_long(std::vector<Symbol>& symbols, RandomStream* random) const;

  BpeOptions options_;
  std::vector<Merge> merges_;  // open addressing, a power of two
  bool plain_;                 // no prefix and no suffix
  std::array<std::int32_t, 128> ascii_;
  std::array<std::int32_t, 256> bytes_;  // "<0x00>" ..., kNone where absent
  std::optional<std::int32_t> unknown_;
  WordCache cache_;
};

}  // namespace heed::text

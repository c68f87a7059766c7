// WordPiece (BERT): the longest token that starts the word, then the longest continuation ("##ing"), and so on; a word
// that cannot be covered is one unknown token.
#pragma once

#include "heed/text/trie.h"
#include "heed/text/vocabulary_model.h"

namespace heed::text {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::int64_t max_input_chars_per_word = 100;  // longer words are unknown
};

class WordPiece final : public VocabularyModel {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  Json to_json() const override;

 private:
  WordPieceOptions options_;
  Trie trie_;
  std::int32_t continuation_;  // the trie's node after the prefix
  std::optional<std::int32_t> unknown_;
};

}  // namespace heed::text

// WordLevel: a word is a token or unknown.
#pragma once

#include "heed/text/vocabulary_model.h"

namespace heed::text {

class WordLevel final : public VocabularyModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  Json to_json() const override;

 private:
  std::string unk_token_;
  std::optional<std::int32_t> unknown_;
};

}  // namespace heed::text

// A model whose tokens are those of one vocabulary: WordLevel, WordPiece, BPE. (Unigram may list a token twice.)
#pragma once

#include <utility>

#include "heed/text/model.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

class VocabularyModel : public Model {
 public:
  std::optional<std::int32_t> id_of(std::string_view token) const final { return vocabulary_.find(token); }
  std::string_view token_of(std::int32_t id) const final { return vocabulary_.token(id); }
  std::int32_t size() const final { return vocabulary_.size(); }
  std::int32_t count() const final { return vocabulary_.count(); }

 protected:
  explicit VocabularyModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  Vocabulary vocabulary_;
};

}  // namespace heed::text

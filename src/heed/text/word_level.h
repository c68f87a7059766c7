// WordLevel: a word is a token or unknown.
#pragma once

#include "heed/text/model.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

class WordLevel final : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::optional<std::int32_t> id_of(std::string_view token) const override { return vocabulary_.find(token); }
  std::string_view token_of(std::int32_t id) const override { return vocabulary_.token(id); }
  std::int32_t size() const override { return vocabulary_.size(); }
  Json to_json() const override;

 private:
  Vocabulary vocabulary_;
  std::string unk_token_;
  std::optional<std::int32_t> unknown_;
};

}  // namespace heed::text

// A model whose tokens have the ids of another list: Marian and M2M-100 cut texts into SentencePiece's pieces, and look
// these up in a vocab.json of their own. heed's own kind of "model"; HuggingFace's tokenizer.json has none like it.
#pragma once

#include "heed/text/vocabulary_model.h"

namespace heed::text {

class Renumbered final : public VocabularyModel {
 public:
  // ids[i]: that of the inner model's token i; -1: `unknown`. Errors start with `file`.
  Renumbered(std::unique_ptr<Model> inner, std::vector<std::int32_t> ids, Vocabulary vocabulary, std::string unknown,
             const std::string& file);

  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override;
  std::int32_t surface_id() const override { return inner_->surface_id() < 0 ? -1 : unknown_; }
  Json to_json() const override;

 private:
  std::unique_ptr<Model> inner_;
  std::vector<std::int32_t> ids_;
  std::string unknown_token_;
  std::int32_t unknown_;
};

}  // namespace heed::text

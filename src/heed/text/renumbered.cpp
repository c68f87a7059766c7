#include "heed/text/renumbered.h"

#include "heed/base/error.h"

namespace heed::text {

Renumbered::Renumbered(std::unique_ptr<Model> inner, std::vector<std::int32_t> ids, Vocabulary vocabulary,
                       std::string unknown, const std::string& file)
    : VocabularyModel(std::move(vocabulary)),
      inner_(std::move(inner)),
      ids_(std::move(ids)),
      unknown_token_(std::move(unknown)),
      unknown_(id_of(unknown_token_).value_or(-1)) {
  HEED_CHECK_AS(bad_format, unknown_ >= 0, file, ": the vocabulary has no \"", unknown_token_, "\"");
  HEED_CHECK_AS(bad_format, std::ssize(ids_) == inner_->size(), file, ": ", ids_.size(), " ids for ", inner_->size(),
                " pieces");
  for (const std::int32_t id : ids_) {
    HEED_CHECK_AS(bad_format, id >= -1 && id < size(), file, ": a piece has the id ", id, ", expected -1 to ",
                  size() - 1);
  }
}

void Renumbered::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  const std::size_t before = pieces.size();
  inner_->tokenize(word, pieces);
  for (std::size_t i = before; i < pieces.size(); ++i) {
    const std::int32_t id = ids_[static_cast<std::size_t>(pieces[i].id)];
    pieces[i].id = id < 0 ? unknown_ : id;
  }
}

Json Renumbered::to_json() const {
  return {{"type", "Renumbered"},
          {"unk_token", unknown_token_},
          {"pieces", inner_->to_json()},
          {"ids", ids_},
          {"vocab", vocabulary_.to_json()}};
}

}  // namespace heed::text

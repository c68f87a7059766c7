#include "heed/text/word_level.h"

#include <utility>

namespace heed::text {

WordLevel::WordLevel(Vocabulary vocabulary, std::string unk_token)
    : VocabularyModel(std::move(vocabulary)),
      unk_token_(std::move(unk_token)),
      unknown_(vocabulary_.find(unk_token_)) {}

void WordLevel::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  std::optional<std::int32_t> id = vocabulary_.find(word);
  if (!id) id = unknown_;
  HEED_CHECK(id, "[WordLevel] \"", word, "\" is not in the vocabulary, nor is \"", unk_token_, "\"");
  pieces.push_back({*id, 0, static_cast<std::uint32_t>(word.size())});
}

Json WordLevel::to_json() const {
  return {{"type", "WordLevel"}, {"unk_token", unk_token_}, {"vocab", vocabulary_.to_json()}};
}

}  // namespace heed::text

// A sub-word model: splits one pre-token into tokens of its vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

// One token: [begin, end) are bytes of the word the model was given. The text of the token is that of its id in the
// vocabulary, which may differ from those bytes (a prefix, an unknown token, a byte), but see surface_id().
struct Piece {
  std::int32_t id;
  std::uint32_t begin;
  std::uint32_t end;
};

class Model {
 public:
  virtual ~Model() = default;

  // Appends the tokens of `word` (valid UTF-8) to `pieces`. Safe to call from several threads at once.
  virtual void tokenize(std::string_view word, std::vector<Piece>& pieces) const = 0;

  // The id whose pieces have as their text not that of the id but the bytes they stand for: the unknown token of
  // Unigram models, as HuggingFace has it. -1: none.
  virtual std::int32_t surface_id() const { return -1; }

  virtual std::optional<std::int32_t> id_of(std::string_view token) const = 0;
  // Throws invalid_argument when `id` is out of range; "" for an id that the vocabulary leaves out.
  virtual std::string_view token_of(std::int32_t id) const = 0;
  // The highest id + 1.
  virtual std::int32_t size() const = 0;
  // Tokens, which are fewer than size() where ids are left out.
  virtual std::int32_t count() const = 0;
  // The "model" object of tokenizer.json, as HuggingFace writes it.
  virtual Json to_json() const = 0;
};

// The model that the "model" object of a tokenizer.json describes; `file` starts the messages of errors.
std::unique_ptr<Model> make_model(const Json& model_section, const std::string& file);

}  // namespace heed::text

// SentencePiece's .model files, read without its library: a protobuf of pieces and of what was set at training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

enum class PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct SentencePieceModel {
  struct Entry {
    std::string piece;
    float score = 0;
    PieceType type = PieceType::kNormal;
  };
  enum class Kind { kUnigram = 1, kBpe = 2 };

  std::vector<Entry> pieces;  // an id is a place in this list
  Kind kind = Kind::kUnigram;
  bool byte_fallback = false;
  std::int32_t unk_id = 0;
  std::string unk_piece = "<unk>", bos_piece = "<s>", eos_piece = "</s>", pad_piece = "<pad>";
  std::string charsmap;  // see charsmap.h; may be empty
  bool add_dummy_prefix = true;
};

// The bytes of a .model. Throws bad_format with `file` for what is not one, and for its word and char models.
SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& file);

// The "model" object of tokenizer.json for these pieces: Unigram, or BPE with the merges that the scores imply.
Json sentencepiece_model_json(const SentencePieceModel& model);
// Sets normalizer, pre_tokenizer and decoder of a tokenizer.json as the model says.
void use_sentencepiece_pipeline(Json& tokenizer, const SentencePieceModel& model);
// As fairseq numbers the pieces: <s>, <pad>, </s>, <unk> before them, languages and <mask> after them.
void use_fairseq_ids(SentencePieceModel& model, const std::vector<std::string>& languages);

}  // namespace heed::text

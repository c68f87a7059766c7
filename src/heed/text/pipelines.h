// Parts of tokenizer.json for the usual pipelines: what BERT, GPT-2 and SentencePiece tokenizers have around the model.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heed/base/json.h"

namespace heed::text {

// A whole tokenizer.json around a "model" object, all other parts null.
Json bare_tokenizer(Json model);

struct BertNormalization {
  bool lowercase = true;
  bool chinese_characters = true;  // spaces around them
  Json strip_accents;              // true, false, or null: as lowercase
};
// Each sets normalizer, pre_tokenizer and decoder.
void use_bert_pipeline(Json& tokenizer, const BertNormalization& normalization);
void use_byte_level_pipeline(Json& tokenizer, bool add_prefix_space);
// ▁ for spaces, before words too.
void use_metaspace_pipeline(Json& tokenizer, Json normalizer);

// TemplateProcessing from "[CLS]:0 $A:0 [SEP]:0" and its like for pairs; `id_of` gives the ids of the special tokens.
Json template_processing(std::string_view single, std::string_view pair,
                         const std::function<std::int32_t(const std::string& token)>& id_of);

// An entry of added_tokens.
Json added_token(const std::string& content, std::int32_t id, bool special);

// The id of a token in a "model" object of any type. Throws bad_format with `file` when there is none.
std::int32_t id_in_model(const Json& model, const std::string& token, const std::string& file);

}  // namespace heed::text

// Files that tokenizers had before tokenizer.json, which become the same pipeline that HuggingFace's converters make of
// them.
//
//   vocab.txt                       BERT, DistilBERT, ELECTRA, MPNet
//   vocab.json + merges.txt         GPT-2, RoBERTa
//   spiece.model, sentencepiece.bpe.model, tokenizer.model    T5, ALBERT, XLM-RoBERTa, Llama and plain SentencePiece
//   and those of translation models (legacy_translation.h)
//
// Which of them is meant, and lower case, accents and special tokens, come from tokenizer_config.json and
// special_tokens_map.json where they are there; the class also from config.json's model_type.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/base/json.h"

namespace heed::text {

// The tokenizer.json that the older files of the directory amount to. Throws not_found when there are none.
Json legacy_tokenizer_json(const std::filesystem::path& directory);
// That of a SentencePiece .model alone.
Json sentencepiece_tokenizer_json(const std::filesystem::path& model);

// The same of what a model writes in, where that is another one than it reads.
std::optional<Json> legacy_target_tokenizer_json(const std::filesystem::path& directory);

}  // namespace heed::text

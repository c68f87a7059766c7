// Training of a whole tokenizer from text files.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "heed/text/train.h"

namespace heed::text {

enum class TokenizerType { bpe, wordpiece, unigram, wordlevel, character };

// "bpe" ...; throws invalid_argument for anything else.
TokenizerType tokenizer_type(std::string_view name);

// The special tokens that a tokenizer of this type has when the caller names none.
std::vector<std::string> default_special_tokens(TokenizerType type);
// The same for a tokenizer of a model that is to be trained, which may be an encoder: bpe has RoBERTa's.
std::vector<std::string> model_special_tokens(TokenizerType type);

// A complete tokenizer.json. The files are UTF-8, taken line by line. Around the model stands the usual pipeline:
//   bpe        byte-level, as GPT-2
//   wordpiece  lower case, words and punctuation, [CLS] text [SEP], as BERT uncased
//   unigram    NFKC, ▁ for spaces, <s> text </s>
//   wordlevel  words and punctuation, [CLS] text [SEP]
// The specials around the text are added only when special_tokens has them. unk_token is [UNK] or <unk> when not set
// (byte-level BPE needs none).
Json train_tokenizer(TokenizerType type, const std::vector<std::filesystem::path>& files, TrainOptions options);

}  // namespace heed::text

// Tokenizer files of models that read one text and write another:
//
//   source.spm, target.spm, vocab.json, perhaps target_vocab.json     Marian
//   sentencepiece.bpe.model, vocab.json                               M2M-100
//   sentencepiece.bpe.model                                           mBART, mBART-50, NLLB
//   spiece.model                                                      Pegasus
//   vocab.json, merges.txt                                            Blenderbot Small
//   vocab.json of {"source": {character: id}, "target": ...}          models that spell
#pragma once

#include "heed/text/legacy_files.h"

namespace heed::text {

enum class Side { source, target };

bool is_translation_tokenizer(const LegacyFiles& files);
// Whether what the model writes has a tokenizer of its own.
bool has_target_tokenizer(const LegacyFiles& files);
// The tokenizer.json that they amount to. Texts of a source end as the model expects, and begin with the language that
// tokenizer_config.json has as src_lang, or that is the class's own.
Json translation_tokenizer_json(const LegacyFiles& files, Side side);

}  // namespace heed::text

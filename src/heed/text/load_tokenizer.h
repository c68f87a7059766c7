// The front door of text/: the tokenizer of a model directory.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/text/tokenizer.h"

namespace heed::text {

// tokenizer.json if the directory has it, else what the older files say (legacy.h). Throws not_found when there is
// neither.
Tokenizer load_tokenizer(const std::filesystem::path& directory);

// What the model of the directory writes in, if that is another tokenizer than what it reads.
std::optional<Tokenizer> load_target_tokenizer(const std::filesystem::path& directory);
// A SentencePiece .model by itself, whatever stands beside it.
Tokenizer load_sentencepiece(const std::filesystem::path& model);

}  // namespace heed::text

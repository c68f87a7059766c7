// SentencePiece's way with spaces: they become a visible character that starts each word.
#pragma once

#include <string>

#include "heed/text/fields.h"
#include "heed/text/pre_tokenizer.h"

namespace heed::text {

enum class PrependScheme { always, first, never };

// The fields that the pre-tokenizer and the decoder of this name have in common.
struct MetaspaceSettings {
  char32_t replacement = 0x2581;
  PrependScheme scheme = PrependScheme::always;
  bool split = true;
};
MetaspaceSettings metaspace_settings(Fields& fields);

std::unique_ptr<PreTokenizer> make_metaspace(Fields& fields);

}  // namespace heed::text

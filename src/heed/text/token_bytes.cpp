#include "heed/text/token_bytes.h"

namespace heed::text {

TokenBytes vocabulary_bytes(const Tokenizer& tokenizer) {
  TokenBytes result;
  for (std::int32_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    const bool special = tokenizer.is_special(id);
    result.bytes.push_back(special ? std::string(tokenizer.id_to_token(id).value_or("")) : tokenizer.bytes_of(id));
    result.special.push_back(special);
  }
  return result;
}

}  // namespace heed::text

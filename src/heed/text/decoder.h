// Decoders: from tokens back to text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Rewrites the list; the text is what its strings give one after the other.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
  // The bytes that a token adds to a text when it is neither the first token nor the last; they need not be UTF-8.
  // Throws invalid_argument where they depend on the tokens around it.
  virtual std::string bytes_of(std::string token) const = 0;
};

// The stage that an object of tokenizer.json describes; `context` starts the messages of errors.
std::unique_ptr<Decoder> make_decoder(const Json& json, const std::string& context);

}  // namespace heed::text

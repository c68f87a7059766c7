// Pre-tokenizers: the second stage, which cuts the text into the words that the model gets.
#pragma once

#include <memory>
#include <string>

#include "heed/base/json.h"
#include "heed/text/pre_tokenized.h"

namespace heed::text {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(PreTokenized& text) const = 0;
};

// The stage that an object of tokenizer.json describes; `context` starts the messages of errors.
std::unique_ptr<PreTokenizer> make_pre_tokenizer(const Json& json, const std::string& context);

}  // namespace heed::text

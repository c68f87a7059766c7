// Post-processors: the stage after the model, which adds the special tokens and joins pairs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/encoding.h"

namespace heed::text {

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  // How many special tokens one text, or a pair, gets.
  virtual std::size_t added_tokens(bool pair) const = 0;
  // One encoding per text, with type and sequence ids set; what is left in the list is merged by the caller.
  virtual void process(std::vector<Encoding>& encodings, bool add_special, const TokenTexts& texts) const = 0;
};

// The stage that an object of tokenizer.json describes; `context` starts the messages of errors.
std::unique_ptr<PostProcessor> make_post_processor(const Json& json, const std::string& context);

}  // namespace heed::text

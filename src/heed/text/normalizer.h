// Normalizers: the first stage, which rewrites the text.
#pragma once

#include <memory>
#include <string>

#include "heed/base/json.h"
#include "heed/text/normalized.h"

namespace heed::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(NormalizedString& string) const = 0;
};

// The stage that an object of tokenizer.json describes; `context` starts the messages of errors.
std::unique_ptr<Normalizer> make_normalizer(const Json& json, const std::string& context);

}  // namespace heed::text

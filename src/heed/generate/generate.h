// All requests at once, for the usual case.
#pragma once

#include "heed/generate/generator.h"

namespace heed {

// The results in the order of the requests. Throws what went wrong with the first that failed, and `cancelled` if the
// context's token stops it.
std::vector<GenerateResult> generate(const Model& model, std::vector<GenerateRequest> requests,
                                     const text::Tokenizer* tokenizer = nullptr, const Context& context = Context());
// All have sequence number 0: a prompt gives the same text alone and among others.
std::vector<GenerateResult> generate(const Model& model, const std::vector<std::vector<TokenId>>& prompts,
                                     const GenerateOptions& options = {}, std::uint64_t seed = 0,
                                     const text::Tokenizer* tokenizer = nullptr, const Context& context = Context());

}  // namespace heed

#include "heed/generate/generate.h"

namespace heed {

std::vector<GenerateResult> generate(const Model& model, const std::vector<std::vector<TokenId>>& prompts,
                                     const GenerateOptions& options, std::uint64_t seed,
                                     const text::Tokenizer* tokenizer, const Context& context) {
  Generator generator(model, tokenizer);
  for (const std::vector<TokenId>& prompt : prompts) {
    generator.add({.prompt = prompt, .options = options, .seed = seed});
  }
  std::vector<GenerateResult> results(prompts.size());
  while (!generator.idle()) {
    for (GenerateResult& result : generator.step(context)) {
      results[static_cast<std::size_t>(result.request)] = std::move(result);
    }
  }
  for (const GenerateResult& result : results) {
    if (result.error) std::rethrow_exception(result.error);
  }
  return results;
}

}  // namespace heed

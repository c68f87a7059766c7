#include "heed/generate/generate.h"

namespace heed {

std::vector<GenerateResult> generate(const Model& model, std::vector<GenerateRequest> requests,
                                     const text::Tokenizer* tokenizer, const Context& context) {
  Generator generator(model, tokenizer);
  std::vector<GenerateResult> results(requests.size());
  for (GenerateRequest& request : requests) generator.add(std::move(request));
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

std::vector<GenerateResult> generate(const Model& model, const std::vector<std::vector<TokenId>>& prompts,
                                     const GenerateOptions& options, std::uint64_t seed,
                                     const text::Tokenizer* tokenizer, const Context& context) {
  std::vector<GenerateRequest> requests;
  for (const std::vector<TokenId>& prompt : prompts) {
    requests.push_back({.prompt = prompt, .options = options, .seed = seed});
  }
  return generate(model, std::move(requests), tokenizer, context);
}

}  // namespace heed

// A generation_config.json, and a search that follows it over scores of a small vocabulary.
#include "heed/generate/search.h"
#include "promise.h"

namespace {

// Bounds what the file may ask for, so that a run takes no time; the values themselves have been checked.
void search(heed::GenerateOptions options) {
  using namespace heed;
  constexpr std::int64_t kVocabulary = 20, kSteps = 6;
  options.max_new_tokens = kSteps;
  if (options.num_beams > 8 || options.num_return_sequences > 8) return;
  const auto found = make_search({.prompt = {1, 2}, .options = options, .vocabulary = kVocabulary});
  for (std::int64_t step = 0; !found->done(); ++step) {
    fuzz::expect(step < kSteps, "an end at the limit");
    fuzz::expect(found->rows() <= std::max(options.num_beams, options.num_return_sequences), "rows as asked for");
    std::vector<float> scores(static_cast<std::size_t>(found->rows() * kVocabulary));
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i * 37 % 23) * 0.1f;
    found->advance(scores);
  }
  for (const Generation& each : found->results()) {
    fuzz::expect(each.reason != FinishReason::none, "a reason");
    for (const TokenId id : each.ids()) fuzz::expect(id >= 0 && id < kVocabulary, "ids in range");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  try {
    const Json config = parse_json(fuzz::text_of(data, size), "generation_config.json");
    search(read_generation_config(config, "generation_config.json"));
  } catch (const Error&) {
  }
  return 0;
}

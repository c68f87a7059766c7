#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  fuzz::load_and_use([&] { return text::Tokenizer::from_json(fuzz::text_of(data, size), "tokenizer.json"); });
  return 0;
}

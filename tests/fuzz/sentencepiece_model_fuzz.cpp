// A SentencePiece model; the first byte says whose pipeline goes around it.
#include <array>

#include "folder.h"
#include "fuzzing.h"
#include "heed/text/load_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  constexpr std::array kConfigs = {
      R"({})", R"({"tokenizer_class": "T5Tokenizer"})", R"({"tokenizer_class": "XLMRobertaTokenizer"})",
      R"({"tokenizer_class": "AlbertTokenizer"})", R"({"tokenizer_class": "LlamaTokenizer"})"};
  if (size == 0) return 0;
  static const fuzz::Folder folder;
  folder.write("tokenizer_config.json", kConfigs[data[0] % kConfigs.size()]);
  folder.write("tokenizer.model", fuzz::text_of(data + 1, size - 1));
  fuzz::load_and_use([] { return text::load_tokenizer(folder.path()); });
  return 0;
}

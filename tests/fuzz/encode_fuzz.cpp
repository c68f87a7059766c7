// Any bytes through each of the small tokenizers of corpus/tokenizer_json, which cover all kinds of models.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "fuzzing.h"
#include "heed/base/utf8.h"

namespace {

std::vector<heed::text::Tokenizer> load_all() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEED_FUZZ_CORPUS "/tokenizer_json")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<heed::text::Tokenizer> tokenizers;
  for (const auto& file : files) tokenizers.push_back(heed::text::Tokenizer::from_file(file));
  return tokenizers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const std::vector<text::Tokenizer> tokenizers = load_all();
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const text::Tokenizer& tokenizer : tokenizers) {
    fuzz::encode_and_check(tokenizer, bytes);
    try {
      tokenizer.encode(bytes, bytes.substr(0, size / 2));
      fuzz::expect(!utf8_find_invalid(bytes), "bytes that are not UTF-8 are refused");
    } catch (const Error&) {
      fuzz::expect(utf8_find_invalid(bytes) || utf8_find_invalid(bytes.substr(0, size / 2)), "UTF-8 is accepted");
    }
  }
  return 0;
}

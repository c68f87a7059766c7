// merges.txt beside a fixed vocab.json; a first line that starts with { is tokenizer_config.json.
#include "folder.h"
#include "fuzzing.h"
#include "heed/text/load_tokenizer.h"

namespace {

constexpr const char* kVocab =
    R"({"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "Ġ": 5, "Ġa": 6, "ca": 7, "aa": 8, "<|endoftext|>": 9, "<s>": 10,
        "</s>": 11, "<pad>": 12, "<unk>": 13, "<mask>": 14, "": 15, "ĠĠ": 16})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const fuzz::Folder folder;
  std::string_view merges = fuzz::text_of(data, size), config = "{}";
  if (merges.starts_with('{')) {
    const std::size_t end = merges.find('\n');
    config = merges.substr(0, end);
    merges = end == std::string_view::npos ? "" : merges.substr(end + 1);
  }
  folder.write("vocab.json", kVocab);
  folder.write("tokenizer_config.json", config);
  folder.write("merges.txt", merges);
  fuzz::load_and_use([] { return text::load_tokenizer(folder.path()); });
  return 0;
}

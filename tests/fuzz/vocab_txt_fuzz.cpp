#include "folder.h"
#include "fuzzing.h"
#include "heed/text/load_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const fuzz::Folder folder;
  folder.write("vocab.txt", fuzz::text_of(data, size));
  fuzz::load_and_use([] { return text::load_tokenizer(folder.path()); });
  return 0;
}

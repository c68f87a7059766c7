// model.safetensors.index.json beside two shards that are right.
#include "folder.h"
#include "heed/base/error.h"
#include "heed/io/tensor_files.h"
#include "promise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const fuzz::Folder folder;
  static const bool ready = [] {
    save_safetensors(folder.path() / "first.safetensors", {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({1, 3})}});
    save_safetensors(folder.path() / "second.safetensors", {{"c", Tensor::full({4}, 1)}});
    return true;
  }();
  fuzz::expect(ready, "shards");
  folder.write("model.safetensors.index.json", fuzz::text_of(data, size));
  try {
    const TensorFiles files(folder.path());
    fuzz::expect(files.files().size() <= 2, "no file but the two shards");
    for (const std::string& name : files.names()) fuzz::expect(files.contains(name), "each name is there");
    fuzz::expect(files.tensors().size() == files.names().size(), "a tensor for each name");
  } catch (const Error&) {
  }
  return 0;
}

// A safetensors file. An input that starts with { is the header up to its first NUL, and the data after it: the length
// in front is put there for it.
#include <cstring>
#include <string>

#include "folder.h"
#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "promise.h"

namespace {

std::string framed(std::string_view input) {
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::uint64_t length = end;
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  file += input.substr(0, end);
  if (end < input.size()) file += input.substr(end + 1);
  return file;
}

void read_all(const std::filesystem::path& path) {
  using namespace heed;
  const SafetensorsFile file(path);
  std::size_t bytes = 0;
  for (const std::string& name : file.names()) {
    bytes += file.bytes(name).size();
    try {
      const Tensor tensor = file.tensor(name);
      fuzz::expect(std::ranges::equal(tensor.shape().sizes(), file.info(name).shape), "the shape of the header");
      fuzz::expect(same_bits(tensor, tensor.detached_clone()), "all bytes can be read");
    } catch (const Error&) {
    }
  }
  fuzz::expect(bytes <= std::filesystem::file_size(path), "tensors inside the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  static const fuzz::Folder folder;
  const std::string_view input = fuzz::text_of(data, size);
  folder.write("model.safetensors", input.starts_with('{') ? framed(input) : std::string(input));
  try {
    read_all(folder.path() / "model.safetensors");
  } catch (const Error&) {
  }
  return 0;
}

// The safetensors format: an 8-byte little-endian header length, a JSON header, then the bytes of all tensors.
//
// The header is an object of name -> {"dtype", "shape", "data_offsets": [begin, end]}, with an optional "__metadata__"
// of strings, and may be padded with white space. Offsets count from the end of the header; together the tensors cover
// the rest of the file exactly, without holes or overlap. Whatever breaks a rule is refused with bad_format naming the
// file, the tensor, what was found and what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/file.h"
#include "heed/tensor/tensor_map.h"

namespace heed {

// The header's limit, that of the reference implementation.
inline constexpr std::uint64_t kSafetensorsHeaderLimit = 100'000'000;

struct SafetensorsInfo {
  std::string dtype;                 // as the format names it: "F32", "BF16", "BOOL", "F8_E4M3" ...
  std::vector<std::int64_t> shape;   // may have more axes than a Tensor
  std::uint64_t begin = 0, end = 0;  // bytes in the data section
};

// A file, mapped; all rules are checked when it is opened. Tensors may outlive it.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_->path(); }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // In the order of their bytes.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const { return infos_.contains(name); }
  // These throw not_found when there is no such tensor.
  const SafetensorsInfo& info(std::string_view name) const;
  std::span<const std::byte> bytes(std::string_view name) const;
  // F32, F64, F16, BF16, I32 and I64 are read-only views of the file (copies if the file does not align them). BOOL,
  // U8, I8, U16 and I16 become i32; U32 and U64 become i64. Types below 8 bits, 8-bit floats and complex numbers are
  // refused by name, as are more axes than kMaxRank.
  Tensor tensor(std::string_view name) const;
  // All of them.
  TensorMap tensors() const;

 private:
  void check_coverage() const;

  std::shared_ptr<const MappedFile> file_;
  std::size_t data_begin_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<std::string> names_;
  std::map<std::string, SafetensorsInfo, std::less<>> infos_;
};

// Replaces `path` (AtomicFile). The bytes are a function of the arguments alone: wide types first, so that everything
// is aligned, then by name, as the reference writer does. HuggingFace's loaders want to see {"format": "pt"}.
void save_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                      const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace heed

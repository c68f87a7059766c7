// The weights of a model folder: model.safetensors, or the shards that model.safetensors.index.json lists.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed {

// All shards are opened and checked together: a tensor that the index promises and no shard has, or the other way
// round, is an error that names it. Symbolic links may lead out of the folder (HuggingFace's cache has such links).
class TensorFiles {
 public:
  explicit TensorFiles(const std::filesystem::path& folder);

  const std::vector<SafetensorsFile>& files() const { return files_; }
  // Sorted.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const { return place_.contains(name); }
  // These throw not_found when there is no such tensor; otherwise as SafetensorsFile.
  const SafetensorsInfo& info(std::string_view name) const { return file_of(name).info(name); }
  Tensor tensor(std::string_view name) const { return file_of(name).tensor(name); }
  TensorMap tensors() const;

 private:
  const SafetensorsFile& file_of(std::string_view name) const;
  void open_shards(const std::filesystem::path& index);

  std::filesystem::path folder_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> place_;  // name -> files_
};

}  // namespace heed

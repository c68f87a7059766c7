#include "heed/io/tensor_files.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIndexLimit = 100'000'000;

// Up to ten names in full and the number of the others.
std::string listed(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < 10; ++i) text += "\n  " + lines[i];
  if (lines.size() > 10) text += "\n  and " + std::to_string(lines.size() - 10) + " more";
  return text;
}

[[noreturn]] void fail_without_safetensors(const fs::path& folder) {
  HEED_CHECK_AS(not_found, fs::is_directory(folder), folder.string(), ": is not a folder");
  for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    HEED_CHECK_AS(bad_format, !fs::exists(folder / pickle), folder.string(), ": has ", pickle,
                  " but no model.safetensors. heed never reads pickle files, which can run any code; convert the model "
                  "once, in Python: AutoModel.from_pretrained(folder).save_pretrained(folder, "
                  "safe_serialization=True), with the class that config.json names under \"architectures\"");
  }
  fail(ErrorKind::not_found, folder.string(),
       ": has neither model.safetensors nor model.safetensors.index.json, expected one of them");
}

}  // namespace

TensorFiles::TensorFiles(const fs::path& folder) : folder_(folder) {
  const fs::path single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  std::error_code unreadable;  // then opening says why
  if (fs::exists(single, unreadable)) {
    files_.emplace_back(single);
    for (const std::string& name : files_[0].names()) place_.emplace(name, 0);
  } else if (fs::exists(index, unreadable)) {
    open_shards(index);
  } else {
    fail_without_safetensors(folder);
  }
}

void TensorFiles::open_shards(const fs::path& index) {
  const std::string where = index.string();
  const Json weight_map = json_required<Json>(parse_json(read_file(index, kIndexLimit), where), "weight_map", where);
  HEED_CHECK_AS(bad_format, weight_map.is_object(), where, ": weight_map is ", detail::json_kind(weight_map),
                ", expected an object of tensor -> file");
  std::map<std::string, std::size_t> shards;
  std::vector<std::string> problems;
  for (const auto& [name, value] : weight_map.items()) {
    const auto shard = json_as<std::string>(value, "weight_map of " + name, where);
    const auto [place, fresh] = shards.try_emplace(shard, files_.size());
    if (fresh) {
      try {
        files_.emplace_back(join_inside(folder_, shard, Links::anywhere));
      } catch (const Error& error) {
        const bool name_refused = error.kind() == ErrorKind::invalid_argument;
        throw Error(name_refused ? ErrorKind::bad_format : error.kind(),
                    where + ": shard of " + name + ": " + error.what());
      }
    }
    place_.emplace(name, place->second);
    if (!files_[place->second].contains(name)) problems.push_back("missing " + name + ", expected in " + shard);
  }
  for (const auto& [shard, number] : shards) {
    for (const std::string& name : files_[number].names()) {
      const auto found = place_.find(name);
      if (found == place_.end() || found->second != number) {
        problems.push_back("extra " + name + " in " + shard + ", which weight_map does not place there");
      }
    }
  }
  HEED_CHECK_AS(bad_format, problems.empty(), where,
                ": the shards do not hold what weight_map says:", listed(problems));
}

std::vector<std::string> TensorFiles::names() const {
  std::vector<std::string> result;
  for (const auto& [name, file] : place_) result.push_back(name);
  return result;
}

TensorMap TensorFiles::tensors() const {
  TensorMap result;
  for (const auto& [name, file] : place_) result.emplace(name, files_[file].tensor(name));
  return result;
}

const SafetensorsFile& TensorFiles::file_of(std::string_view name) const {
  const auto found = place_.find(name);
  HEED_CHECK_AS(not_found, found != place_.end(), folder_.string(), ": has no tensor \"", name, "\"");
  return files_[found->second];
}

}  // namespace heed

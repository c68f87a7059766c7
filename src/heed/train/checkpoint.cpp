#include "heed/train/checkpoint.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/safetensors.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

std::string file_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  const std::string zeros(digits.size() < 8 ? 8 - digits.size() : 0, '0');
  return std::string(kPrefix) + zeros + digits + std::string(kSuffix);
}

// The step that a file's name says.
std::optional<std::int64_t> step_of(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return {};
  const std::string digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return step;
}

// Newest first.
std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  HEED_CHECK_AS(io, !error || error == std::errc::no_such_file_or_directory, folder.string(),
                ": cannot be read: ", error.message());
  for (const auto& entry : entries) {
    if (const auto step = step_of(entry.path())) found.emplace_back(*step, entry.path());
  }
  std::ranges::sort(found, std::greater());
  std::vector<fs::path> files;
  for (auto& [step, path] : found) files.push_back(std::move(path));
  return files;
}

// XXH3, 128 bits, over names, shapes, bytes and the state's text.
std::string checksum(const TensorMap& tensors, const std::string& state) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  const auto add = [&](const void* bytes, std::size_t size) { XXH3_128bits_update(hash.get(), bytes, size); };
  add(state.data(), state.size());
  for (const auto& [name, tensor] : tensors) {
    add(name.data(), name.size() + 1);
    const auto& sizes = tensor.shape().sizes();
    add(sizes.data(), sizes.size() * sizeof(std::int64_t));
    const Tensor whole = tensor.detached_contiguous();
    add(whole.storage()->bytes() + whole.offset() * element_size(whole.dtype()),
        static_cast<std::size_t>(whole.count() * element_size(whole.dtype())));
  }
  const XXH128_hash_t value = XXH3_128bits_digest(hash.get());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(value.high64),
                static_cast<unsigned long long>(value.low64));
  return text;
}

}  // namespace

fs::path save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, int keep) {
  make_folder(folder);
  const fs::path path = folder / file_name(checkpoint.step);
  const std::string state = checkpoint.state.dump();
  save_safetensors(path, checkpoint.tensors,
                   {{"heed_checkpoint", "1"}, {"state", state}, {"checksum", checksum(checkpoint.tensors, state)}});
  const std::vector<fs::path> files = checkpoint_files(folder);
  for (std::size_t i = static_cast<std::size_t>(keep); i < files.size(); ++i) {
    std::error_code ignored;
    fs::remove(files[i], ignored);
  }
  return path;
}

Checkpoint load_checkpoint(const fs::path& path) {
  const SafetensorsFile file(path);
  const auto field = [&](const char* name) {
    const auto found = file.metadata().find(name);
    HEED_CHECK_AS(bad_format, found != file.metadata().end(), path.string(), ": is no checkpoint of heed: ", name,
                  " is missing");
    return found->second;
  };
  HEED_CHECK_AS(bad_format, field("heed_checkpoint") == "1", path.string(), ": is a checkpoint of version ",
                field("heed_checkpoint"), ", expected 1");
  Checkpoint checkpoint{.step = step_of(path).value_or(0), .tensors = file.tensors()};
  const std::string state = field("state"), found = checksum(checkpoint.tensors, state);
  HEED_CHECK_AS(bad_format, found == field("checksum"), path.string(), ": is damaged: its checksum is ", found,
                ", expected ", field("checksum"));
  checkpoint.state = parse_json(state, path.string());
  checkpoint.step = json_required<std::int64_t>(checkpoint.state, "step", path.string());
  return checkpoint;
}

std::optional<Checkpoint> newest_checkpoint(const fs::path& folder, std::vector<std::string>& damaged) {
  for (const fs::path& file : checkpoint_files(folder)) {
    try {
      return load_checkpoint(file);
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  }
  return {};
}

}  // namespace heed

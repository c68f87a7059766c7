// Models from HuggingFace's hub, or from a server that speaks its language:
//   {endpoint}/api/models/{repository}/revision/{revision}        the commit and the names of its files
//   {endpoint}/{repository}/resolve/{commit}/{file}               a file
//
// What is pulled is kept: <cache>/<owner>--<name>/snapshots/<commit>/ is the model folder, and refs/<revision> says
// which commit a revision was when it was last pulled whole. A snapshot has only files that are complete and verified.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/io/download.h"

namespace heed {

struct HubOptions {
  std::string endpoint = "https://huggingface.co";
  std::filesystem::path cache{};
  bool offline = false;  // only what the cache has
  DownloadOptions download{};
  // The file's name, its number among `count`, and its bytes so far and in all (0: not known).
  std::function<void(const std::string& file, std::size_t number, std::size_t count, std::uint64_t done,
                     std::uint64_t total)>
      on_progress{};
};

// By the environment: HF_ENDPOINT; HF_TOKEN; HEED_CACHE, else XDG_CACHE_HOME/heed, else HOME/.cache/heed, each with
// "hub" after it.
HubOptions hub_options();

// owner/name@revision; without a revision it is main.
struct HubName {
  explicit HubName(const std::string& name);
  std::string repository, revision;
};

struct PulledModel {
  std::filesystem::path folder{};
  std::string commit{};
  std::vector<std::string> files{};  // their names in the folder
  std::string unreachable{};         // why the hub was not asked, or did not answer: all is from the cache
};

// `repository` is owner/name, or a name. Files that make a model and its tokenizer are taken, as safetensors: never
// pickle files. If the hub does not answer and the cache has the revision, that is the result.
PulledModel pull_model(const std::string& repository, const std::string& revision, const HubOptions& options);

// The folder that `name` stands for: a folder of that name, or what was pulled as owner/name or owner/name@revision.
// Throws not_found, with what to do, if there is neither.
std::filesystem::path find_model(const std::string& name);

// owner/name, if find_model() finds this folder by it; else the folder's absolute path.
std::string model_name(const std::filesystem::path& folder);

// Which of a repository's files make a model. Throws bad_format for a name that leads out of the folder, and not_found
// when there is no config.json or no safetensors file.
std::vector<std::string> model_files(const std::vector<std::string>& names, const std::string& where);

// Copies a model's files into a folder of the user's.
void copy_model(const PulledModel& model, const std::filesystem::path& folder);

}  // namespace heed

#include "heed/io/hub.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/base/json.h"
#include "heed/base/stop.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

const std::string kOwnerEnd = "--";  // between owner and name of a folder in the cache
constexpr std::size_t kMostListBytes = 16'000'000;

const std::set<std::string_view>& file_names() {
  static const std::set<std::string_view> names = {"adapter_config.json",
                                                   "added_tokens.json",
                                                   "chat_template.jinja",
                                                   "chat_template.json",
                                                   "config.json",
                                                   "config_sentence_transformers.json",
                                                   "generation_config.json",
                                                   "merges.txt",
                                                   "model.safetensors.index.json",
                                                   "modules.json",
                                                   "preprocessor_config.json",
                                                   "sentence_bert_config.json",
                                                   "sentencepiece.bpe.model",
                                                   "source.spm",
                                                   "special_tokens_map.json",
                                                   "spiece.model",
                                                   "target.spm",
                                                   "target_vocab.json",
                                                   "tokenizer.json",
                                                   "tokenizer.model",
                                                   "tokenizer_config.json",
                                                   "vocab.json",
                                                   "vocab.txt"};
  return names;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A name that is one part of a path: letters, digits, . _ and -.
bool is_plain_name(std::string_view name, std::size_t most) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= most && name.find_first_not_of(kAllowed) == std::string_view::npos &&
         name != "." && name.find("..") == std::string_view::npos;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// 1_Pooling: modules of sentence-transformers. What is in other folders (onnx, openvino) is not for us.
bool is_module_folder(std::string_view name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string_view::npos && name[digits] == '_';
}

bool all_plain(const std::vector<std::string>& parts) {
  constexpr std::size_t kMostCharacters = 96;
  return std::ranges::all_of(parts, [](const std::string& part) { return is_plain_name(part, kMostCharacters); });
}

// The hub allows no -- either, which the cache puts between owner and name.
bool is_repository(const std::string& name) {
  const auto parts = parts_of(name);
  return parts.size() <= 2 && all_plain(parts) && name.find("--") == std::string::npos;
}

void check_names(const std::string& repository, const std::string& revision) {
  HEED_CHECK(is_repository(repository), "[pull] repository \"", repository,
             "\", expected owner/name or a name, of letters, digits, . _ and -");
  HEED_CHECK(all_plain(parts_of(revision)), "[pull] revision \"", revision, "\", expected a branch, a tag or a commit");
}

// What is not a letter, digit, . _ - or one of `kept` as %XX.
std::string escaped(std::string_view text, std::string_view kept = "") {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (is_plain_name(std::string_view(&c, 1), 1) || c == '.' || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      ((result += '%') += kDigits[byte >> 4]) += kDigits[byte & 15];
    }
  }
  return result;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// By the environment; nothing if that names no folder.
std::optional<fs::path> cache_folder() {
  const std::string own = environment("HEED_CACHE"), shared = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (own.empty() && shared.empty() && home.empty()) return {};
  const fs::path base =
      !own.empty() ? fs::path(own) : (shared.empty() ? fs::path(home) / ".cache" : fs::path(shared)) / "heed";
  return base / "hub";
}

// Errors of std::filesystem as ours.
template <class Action>
auto with_own_errors(const Action& action) {
  try {
    return action();
  } catch (const fs::filesystem_error& error) {
    fail(ErrorKind::io, error.path1().string(), ": ", error.code().message());
  }
}

// Where a repository is kept.
struct Shelf {
  Shelf(const fs::path& cache, const std::string& repository, const std::string& revision)
      : folder(cache / join(parts_of(repository), kOwnerEnd)), ref(folder / "refs" / escaped(revision)) {}

  fs::path snapshot(const std::string& commit) const { return folder / "snapshots" / commit; }
  fs::path part(const std::string& commit, const std::string& file) const {
    return folder / "parts" / commit / (escaped(file) + ".part");
  }
  // What the cache has of the revision; nothing if it was never pulled whole.
  std::optional<PulledModel> cached() const {
    std::error_code unreadable;
    if (!fs::exists(ref, unreadable)) return {};
    const Json note = parse_json(read_file(ref, kMostListBytes), ref.string());
    PulledModel model{.commit = json_required<std::string>(note, "commit", ref.string()),
                      .files = json_required<std::vector<std::string>>(note, "files", ref.string()),
                      .unreachable = "offline"};
    HEED_CHECK_AS(bad_format, is_plain_name(model.commit, 64), ref.string(), ": commit is \"", model.commit, "\"");
    model.folder = snapshot(model.commit);
    for (const std::string& file : model.files) {
      if (!fs::exists(model.folder / file, unreadable)) return {};
    }
    return model;
  }
  void remember(const PulledModel& model) const {
    fs::create_directories(ref.parent_path());
    replace_file(ref, Json({{"commit", model.commit}, {"files", model.files}}).dump() + "\n");
  }

  fs::path folder, ref;
};

// The commit of a revision and the names of its files.
PulledModel list_files(const std::string& repository, const std::string& revision, const HubOptions& options,
                       const DownloadOptions& download) {
  const std::string url =
      without_slash(options.endpoint) + "/api/models/" + escaped(repository, "/") + "/revision/" + escaped(revision);
  const Json answer = parse_json(fetch_text(url, kMostListBytes, download), url);
  PulledModel model{.commit = json_required<std::string>(answer, "sha", url)};
  HEED_CHECK_AS(bad_format, is_plain_name(model.commit, 64), url, ": sha is \"", model.commit.substr(0, 100),
                "\", expected a commit");
  std::vector<std::string> names;
  for (const Json& sibling : json_required<std::vector<Json>>(answer, "siblings", url)) {
    names.push_back(json_required<std::string>(sibling, "rfilename", url));
  }
  model.files = model_files(names, repository);
  return model;
}

// The files of the snapshot that are not there yet.
void fetch_missing(const PulledModel& model, const std::string& repository, const Shelf& shelf,
                   const HubOptions& options) {
  fs::create_directories(model.folder);
  for (std::size_t i = 0; i < model.files.size(); ++i) {
    const std::string& file = model.files[i];
    const fs::path path = join_inside(model.folder, file);
    if (fs::exists(path)) continue;
    const std::string url = without_slash(options.endpoint) + "/" + escaped(repository, "/") + "/resolve/" +
                            escaped(model.commit) + "/" + escaped(file, "/");
    fetch_file(url, path, shelf.part(model.commit, file), options.download,
               [&](std::uint64_t done, std::uint64_t total) {
                 if (options.on_progress) options.on_progress(file, i, model.files.size(), done, total);
               });
  }
}

}  // namespace

HubOptions hub_options() {
  HubOptions options;
  if (const std::string endpoint = environment("HF_ENDPOINT"); !endpoint.empty()) options.endpoint = endpoint;
  options.download.token = environment("HF_TOKEN");
  HEED_CHECK(options.download.token.find_first_of("\r\n") == std::string::npos, "HF_TOKEN has a line break");
  const auto cache = cache_folder();
  HEED_CHECK(cache, "there is no folder for what is pulled: set HEED_CACHE or HOME");
  options.cache = *cache;
  return options;
}

std::vector<std::string> model_files(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string> chosen, weights;
  for (const std::string& name : names) {
    const auto parts = parts_of(name);
    const bool escapes =
        std::ranges::any_of(parts, [](const std::string& p) { return p.empty() || p == ".." || p == "."; });
    HEED_CHECK_AS(bad_format, !escapes && name.find('\0') == std::string::npos, where, ": has a file \"", name,
                  "\", which leads out of the folder");
    if (parts.size() > 2 || (parts.size() == 2 && !is_module_folder(parts[0]))) continue;
    if (file_names().contains(parts.back())) chosen.insert(name);
    if (name.ends_with(".safetensors")) weights.insert(name);
  }
  // Beside the whole file there may be others of another precision.
  for (const std::string& name : weights) {
    const std::string whole =
        name.substr(0, name.find('/') == std::string::npos ? 0 : name.find('/') + 1) + "model.safetensors";
    if (name == whole || !weights.contains(whole)) chosen.insert(name);
  }
  HEED_CHECK_AS(not_found, !weights.empty(), where,
                ": has no *.safetensors. heed never loads pickle files (pytorch_model.bin), which can run any code; "
                "look for a revision that has safetensors, such as one of the repository's pull requests: @refs/pr/1");
  const bool configured = std::ranges::any_of(chosen, [](const std::string& name) {
    return name == "config.json" || name.ends_with("/config.json") || name == "adapter_config.json";
  });
  HEED_CHECK_AS(not_found, configured, where, ": has no config.json");
  return {chosen.begin(), chosen.end()};
}

HubName::HubName(const std::string& name)
    : repository(name.substr(0, name.find('@'))),
      revision(name.find('@') == std::string::npos ? "main" : name.substr(name.find('@') + 1)) {}

namespace {

// Of the repositories that were pulled, those of any owner with this name.
std::vector<std::string> pulled_as(const fs::path& cache, const std::string& name) {
  std::vector<std::string> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(cache, unreadable)) {
    const std::string folder = entry.path().filename().string();
    if (folder.ends_with(kOwnerEnd + name)) {
      found.push_back(folder.substr(0, folder.size() - name.size() - kOwnerEnd.size()) + "/" + name);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

fs::path find_model(const std::string& name) {
  std::error_code unreadable;
  if (fs::exists(name, unreadable)) return name;
  const HubName hub(name);
  HEED_CHECK_AS(not_found, is_repository(hub.repository) && all_plain(parts_of(hub.revision)), name,
                ": there is no such folder");
  const auto cache = cache_folder();
  const auto pulled = cache ? Shelf(*cache, hub.repository, hub.revision).cached() : std::nullopt;
  if (pulled) return pulled->folder;
  constexpr const char* kNeither = ": there is no such folder here, and no model of that name was pulled; ";
  if (hub.repository.find('/') != std::string::npos) {
    fail(ErrorKind::not_found, name, kNeither, "if it is one of the hub: heed pull ", name);
  }
  const auto whole = cache ? pulled_as(*cache, hub.repository) : std::vector<std::string>();
  HEED_CHECK_AS(not_found, whole.empty(), name, kNeither, "there is ", join_or(whole), ": name it with its owner");
  fail(ErrorKind::not_found, name, kNeither, "models of the hub are called owner/name: heed pull owner/", name);
}

std::string model_name(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  // <cache>/<owner>--<name>/snapshots/<commit>
  std::string name = path.parent_path().parent_path().filename().string();
  if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
  const auto cache = cache_folder();
  if (!cache || !is_repository(name)) return path.string();
  const auto pulled = Shelf(*cache, name, "main").cached();
  std::error_code error;
  return pulled && fs::equivalent(pulled->folder, path, error) ? name : path.string();
}

PulledModel pull_model(const std::string& repository, const std::string& revision, const HubOptions& options) {
  check_names(repository, revision);
  const Shelf shelf(options.cache, repository, revision);
  const auto cached = shelf.cached();
  if (options.offline) {
    HEED_CHECK_AS(not_found, cached, shelf.folder.string(), ": has no complete copy of ", repository, " at ", revision,
                  "; pull it once without --offline");
    return *cached;
  }
  PulledModel model;
  try {
    DownloadOptions once = options.download;
    if (cached) once.attempts = 1;
    model = list_files(repository, revision, options, once);
  } catch (const Error& error) {
    if (!cached || error.kind() != ErrorKind::io) throw;
    model = *cached;
    model.unreachable = error.what();
    return model;
  }
  model.folder = shelf.snapshot(model.commit);
  with_own_errors([&] {
    fetch_missing(model, repository, shelf, options);
    shelf.remember(model);
  });
  return model;
}

void copy_model(const PulledModel& model, const fs::path& folder) {
  with_own_errors([&] {
    fs::create_directories(folder);
    for (const std::string& name : model.files) {
      StopScope::current().check("[pull]");
      const fs::path target = join_inside(folder, name);
      fs::create_directories(target.parent_path());
      replace_file(target, MappedFile(model.folder / name).bytes());
    }
  });
}

}  // namespace heed

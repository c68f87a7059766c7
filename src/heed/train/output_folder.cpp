#include "heed/train/output_folder.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/train/head_plan.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Through links and whatever ".." and "." there are.
bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool has_nothing(const fs::path& folder) {
  std::error_code error;
  const bool empty = fs::is_empty(folder, error);
  HEED_CHECK_AS(io, !error, folder.string(), ": cannot be read: ", error.message());
  return empty;
}

// Whether `heed train` wrote here.
bool is_run(const fs::path& folder) {
  constexpr std::size_t kMostBytes = 16'000'000;
  const fs::path file = folder / "train.json";
  if (!is_there(file)) return false;
  const Json fields = Json::parse(read_file(file, kMostBytes), nullptr, false);
  return fields.is_object() && fields.contains("task") && fields.contains("output");
}

void check_is_free(const fs::path& output) {
  if (!is_there(output) || has_nothing(output)) return;
  const std::string folder = output.string();
  HEED_CHECK(is_run(output), folder,
             ": is not empty, and nothing of heed train is in it; choose another output, or give --overwrite");
  HEED_CHECK(!is_there(output / "results.json"), folder,
             ": has a finished run; choose another output, give --overwrite to replace it, or continue it: heed train "
             "--resume ",
             folder, " epochs=...");
  HEED_CHECK(!is_there(output / "checkpoints") && !is_there(output / "model.safetensors"), folder,
             ": has an unfinished run; continue it (heed train --resume ", folder,
             "), choose another output, or give --overwrite to begin anew");
}

}  // namespace

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void remove_left(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  HEED_CHECK_AS(io, !error, path.string(), ": cannot be removed: ", error.message());
}

void prepare_output(const TrainConfig& config, RunStart start) {
  const fs::path output = config.output;
  for (const HeadPlan& head : head_plans(config)) {
    const fs::path folder = output / head.name;
    for (const std::string& from : {config.model.from, config.tokenizer.from}) {
      HEED_CHECK(from.empty() || !same_folder(folder, from), folder.string(),
                 ": is the folder that the run starts from, and would be written over; choose another output");
    }
  }
  const bool anew = start == RunStart::fresh || (start == RunStart::resume && !is_run(output));
  if (anew) {
    remove_unfinished_files(output);  // of a run that was killed before it had written anything
    check_is_free(output);
  }
  make_folder(output);
  if (start == RunStart::resume) return;
  for (const char* left : {"checkpoints", "tensorboard", "log.jsonl", "results.json"}) remove_left(output / left);
  // A tokenizer that is trained is taken from here when the run is resumed.
  if (config.tokenizer.train.empty()) return;
  for (const char* left :
       {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"}) {
    remove_left(output / left);
  }
}

}  // namespace heed

#include "heed/train/run_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {

namespace {

bool is_of_evaluation(const Json& fields) {
  return std::ranges::any_of(fields.items(), [](const auto& field) { return field.key().starts_with("dev/"); });
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& folder, std::int64_t step, bool evaluation_due, bool tensorboard)
    : path_(folder / "log.jsonl") {
  std::string kept;
  std::ifstream old(path_);
  for (std::string line; std::getline(old, line);) {
    const Json fields = Json::parse(line, nullptr, false);
    if (!fields.is_object()) continue;
    const std::int64_t of_step = fields.value("step", step + 1);
    if (of_step < step || (of_step == step && !(evaluation_due && is_of_evaluation(fields)))) kept += line + "\n";
  }
  replace_file(path_, kept);
  if (tensorboard) events_.emplace(folder / "tensorboard", step + 1);
}

void RunLog::write(std::int64_t step, const Json& fields) {
  Json line = fields;
  line["step"] = step;
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << "\n";
  file.close();
  HEED_CHECK_AS(io, file.good(), path_.string(), ": cannot be written: ", std::strerror(errno));
  if (!events_) return;
  for (const auto& [name, value] : fields.items()) {
    if (value.is_number()) events_->scalar(step, name, value.get<double>());
  }
}

}  // namespace heed

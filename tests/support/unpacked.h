// Files of the shared data as they were before somebody packed them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed::test {

// shared/data/<relative>: itself, or for name.gz the file unpacked into `folder`, or for archive.zip/name that file of
// the archive. A path that does not exist if there is no such file, gzip or unzip.
inline std::filesystem::path unpacked(const TempFolder& folder, const std::string& relative) {
  const auto packed = shared_data("data/" + relative);
  const auto target =
      folder.path() / packed.filename().replace_extension(packed.extension() == ".gz" ? "" : packed.extension());
  std::string command;
  if (packed.extension() == ".gz") {
    command = "gzip -dc '" + packed.string() + "'";
  } else if (packed.parent_path().extension() == ".zip") {
    command = "unzip -p '" + packed.parent_path().string() + "' '" + packed.filename().string() + "'";
  } else {
    return packed;
  }
  if (std::system((command + " > '" + target.string() + "' 2> /dev/null").c_str()) == 0) return target;
  return packed;
}

}  // namespace heed::test

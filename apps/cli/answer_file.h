// Where answers go: standard output, a file that is put in place when everything is written, or one of vectors (.npy).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/base/file.h"
#include "heed/io/npy.h"

namespace heed::cli {

class AnswerFile {
 public:
  explicit AnswerFile(const std::string& path);  // "" and "-": standard output

  bool is_standard_output() const { return !file_ && !vectors_; }
  bool takes_vectors() const { return vectors_.has_value(); }
  // Throws io at once if nothing more can be written.
  void write(std::string_view text);
  NpyFile& vectors() { return *vectors_; }
  void commit();

 private:
  std::optional<AtomicFile> file_;
  std::optional<NpyFile> vectors_;
};

// For what is written to a folder by names of heed's own: throws invalid_argument if the file is there already, unless
// it may be replaced.
void check_replaces(const std::filesystem::path& file, bool overwrite);

// Throws io if what was printed did not all reach standard output.
void flush_standard_output();

}  // namespace heed::cli

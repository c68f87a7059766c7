// The options by which verbs name data files and their columns: those of DataSource.
#pragma once

#include <string>
#include <vector>

#include "heed/data/readers.h"

namespace CLI {
class App;
}

namespace heed::cli {

struct DataOptions {
  DataSource source;              // all but the file
  std::vector<std::string> rows;  // names of kRowFields
  std::string separator, label_separator;
  bool no_header = false;

  // With the file, and what the strings stand for.
  DataSource source_of(const std::string& file) const;
};

void add_data_options(CLI::App& verb, DataOptions& options);

}  // namespace heed::cli

// The options by which verbs name data files and their columns: those of DataSource.
#pragma once

#include <string>
#include <vector>

#include "heed/data/readers.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

// --separator and --no-header.
struct TableOptions {
  std::string separator;
  bool no_header = false;

  char separator_character() const;  // 0: not given
};

struct DataOptions {
  DataSource source;              // all but the file
  std::vector<std::string> rows;  // names of kRowFields
  TableOptions table;
  std::string label_separator;

  // With the file, and what the strings stand for.
  DataSource source_of(const std::string& file) const;
};

CLI::Option* add_column(CLI::App& verb, const Column& column, std::string& place);
std::vector<CLI::Option*> add_table_options(CLI::App& verb, TableOptions& options);
void add_data_options(CLI::App& verb, DataOptions& options);

}  // namespace heed::cli

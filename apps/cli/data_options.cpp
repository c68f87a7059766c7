#include "data_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command_tree.h"
#include "heed/base/error.h"

namespace heed::cli {

char TableOptions::separator_character() const {
  HEED_CHECK(separator.size() <= 1, "--separator is \"", separator, "\", expected one character");
  return separator.empty() ? '\0' : separator[0];
}

DataSource DataOptions::source_of(const std::string& file) const {
  DataSource result = source;
  result.file = file;
  result.header = !table.no_header;
  result.separator = table.separator_character();
  for (const std::string& name : rows) {
    result.needs.insert(static_cast<RowField>(std::ranges::find(kRowFields, name) - std::begin(kRowFields)));
  }
  HEED_CHECK(label_separator.size() <= 1, "--label-separator is \"", label_separator, "\", expected one character");
  result.label_separator = label_separator.empty() ? '\0' : label_separator[0];
  return result;
}

CLI::Option* add_column(CLI::App& verb, const Column& column, std::string& place) {
  return verb.add_option("--" + std::string(column.name), place, std::string(column.help));
}

std::vector<CLI::Option*> add_table_options(CLI::App& verb, TableOptions& options) {
  return {verb.add_option("--separator", options.separator,
                          "character between the columns of a tsv or csv file; default: a tab, a comma"),
          verb.add_flag("--no-header", options.no_header, "the first row of a tsv or csv file is data, not names")};
}

void add_data_options(CLI::App& verb, DataOptions& options) {
  verb.add_option("--format", options.source.format,
                  "format of the file: " + data_formats() + "; default: by the extension");
  verb.add_option("--rows", options.rows,
                  "fields that every row must have, separated by commas; default: by the format")
      ->delimiter(',')
      ->check(one_of({std::begin(kRowFields), std::end(kRowFields)}));
  for (const Column& column : kColumns) add_column(verb, column, options.source.columns.*column.place);
  verb.add_option("--label-names", options.source.label_names, "names of labels that are numbers from 0: no,yes")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_table_options(verb, options.table);
  verb.add_option("--label-separator", options.label_separator, "character between several labels of one row");
  verb.add_flag("--label-first", options.source.label_first, "lines are a label, a space and a text");
}

}  // namespace heed::cli

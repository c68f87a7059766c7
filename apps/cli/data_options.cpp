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

CLI::Option* add_text_column(CLI::App& verb, std::string& column) {
  return verb.add_option("--text", column, "column or field of the text: a name, or a number from 0");
}

CLI::Option* add_pair_column(CLI::App& verb, std::string& column) {
  return verb.add_option("--pair", column, "column or field of the second text");
}

std::vector<CLI::Option*> add_table_options(CLI::App& verb, TableOptions& options) {
  return {verb.add_option("--separator", options.separator,
                          "character between the columns of a tsv or csv file; default: a tab, a comma"),
          verb.add_flag("--no-header", options.no_header, "the first row of a tsv or csv file is data, not names")};
}

void add_data_options(CLI::App& verb, DataOptions& options) {
  Columns& columns = options.source.columns;
  verb.add_option("--format", options.source.format,
                  "format of the file: " + data_formats() + "; default: by the extension");
  verb.add_option("--rows", options.rows,
                  "fields that every row must have, separated by commas; default: by the format")
      ->delimiter(',')
      ->check(one_of({std::begin(kRowFields), std::end(kRowFields)}));
  add_text_column(verb, columns.text);
  add_pair_column(verb, columns.pair);
  verb.add_option("--texts", columns.texts, "field of further texts: candidates, sentences to compare");
  verb.add_option("--words", columns.words, "column or field of the words of a tagged sentence");
  verb.add_option("--label", columns.label, "column or field of the label, or of the tags");
  verb.add_option("--score", columns.score, "column or field of the score, for regression and similarity");
  verb.add_option("--numbers", columns.numbers, "field of a series of numbers");
  verb.add_option("--files", columns.files, "column or field of the file or files: images, sound");
  verb.add_option("--items", columns.items, "field of a list of item ids");
  verb.add_option("--label-names", options.source.label_names, "names of labels that are numbers from 0: no,yes")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_table_options(verb, options.table);
  verb.add_option("--label-separator", options.label_separator, "character between several labels of one row");
  verb.add_flag("--label-first", options.source.label_first, "lines are a label, a space and a text");
}

}  // namespace heed::cli

#include "data_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "heed/base/error.h"

namespace heed::cli {

DataSource DataOptions::source_of(const std::string& file) const {
  DataSource result = source;
  result.file = file;
  result.header = !no_header;
  for (const std::string& name : rows) {
    result.needs.insert(static_cast<RowField>(std::ranges::find(kRowFields, name) - std::begin(kRowFields)));
  }
  HEED_CHECK(label_separator.size() <= 1, "--label-separator is \"", label_separator, "\", expected one character");
  result.label_separator = label_separator.empty() ? '\0' : label_separator[0];
  return result;
}

void add_data_options(CLI::App& verb, DataOptions& options) {
  Columns& columns = options.source.columns;
  verb.add_option("--format", options.source.format,
                  "lines, tsv, csv, jsonl, conll, conllu or squad; default: by the file's name");
  verb.add_option("--rows", options.rows, "what a row must have, with commas between; default: by the format")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kRowFields), std::end(kRowFields))));
  verb.add_option("--text", columns.text, "column (a name, or a number from 0) or field of the text");
  verb.add_option("--pair", columns.pair, "of the second text");
  verb.add_option("--texts", columns.texts, "of further texts: candidates, sentences to compare");
  verb.add_option("--words", columns.words, "of the words of a tagged sentence");
  verb.add_option("--label", columns.label, "of the label, or of the tags");
  verb.add_option("--score", columns.score, "of the number for regression and similarity");
  verb.add_option("--numbers", columns.numbers, "of a series of numbers");
  verb.add_option("--files", columns.files, "of the file or the files: images, sound");
  verb.add_option("--items", columns.items, "of a list of item ids");
  verb.add_option("--label-separator", options.label_separator, "splits a label field into several labels");
  verb.add_flag("--no-header", options.no_header, "tsv, csv: the first row is data already");
  verb.add_flag("--label-first", options.source.label_first, "lines: \"label text\"");
}

}  // namespace heed::cli

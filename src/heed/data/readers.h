// Labelled data from files, row by row: whole documents, lines of text, TSV, CSV, JSON lines, CoNLL columns, CoNLL-U
// and SQuAD. The file is mapped, not loaded, so it may be larger than memory (SQuAD files alone are parsed whole). Rows
// must be UTF-8; a byte order mark is skipped, and lines may end in CR LF. What gzip packed (.csv.gz) is unpacked into
// memory. docs/data.md describes the formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/row.h"

namespace heed {

// Where a row's fields are: names (of the header, of JSON fields, of CoNLL-U's columns) or numbers from 0. What is not
// set is taken by its usual name, given here; what is set must be there.
struct Columns {
  std::string text{};      // "text", column 0 without a header; with answers "question"
  std::string pair{};      // "text_pair"; with answers "context". Of lines: the endings of two files' names, "de", "en"
  std::string texts{};     // "texts": a list
  std::string words{};     // "words": a list; CoNLL column 0, CoNLL-U "form"
  std::string label{};     // "label"; of words "tags", CoNLL the last column, CoNLL-U "upos"
  std::string score{};     // "score"
  std::string numbers{};   // "numbers": a list
  std::string answers{};   // "answers": {"text": [..], "answer_start": [..]}
  std::string files{};     // "files": a list; "file", "image" or "audio"
  std::string items{};     // "items": a list
  std::string messages{};  // "messages": a list; or what data/conversation.h knows
  std::string id{};        // "id"
};

struct DataSource {
  std::filesystem::path file{};
  // One of data_formats(); "": by the extension (.txt, .tsv, .csv, .jsonl or .ndjson, .conll or .bio, .conllu,
  // .json), in capitals or not.
  std::string format{};
  // What every row must have. Beyond that a reader takes columns that are set, labels, and with a text a pair and a
  // score. Default: words and labels for conll and conllu; text, pair and answers for squad; else text.
  RowFields needs{};
  // jsonl: where a text is needed and no column is set for it, a row may be a conversation (data/conversation.h), or a
  // "prompt" with its "completion", which are text and pair.
  bool chats = false;
  Columns columns{};
  bool header = true;        // tsv, csv: the first row names the columns
  bool label_first = false;  // lines: "label text", separated by a space or a tab
  char label_separator = 0;  // splits a label into several, for texts with any number of labels
  char separator = 0;        // csv, tsv: between columns; 0: a comma, a tab
  // Names of labels that are numbers from 0; a label that is neither such a number nor a name is malformed.
  std::vector<std::string> label_names{};
  // Rows that are malformed are skipped and counted up to this many; one more throws.
  std::size_t max_bad_rows = 0;
};

struct BadRows {
  std::size_t count = 0;
  std::vector<std::string> messages{};  // of the first few, each with file and line
};

class RowReader {
 public:
  virtual ~RowReader() = default;

  // The next row that is well-formed; false at the end. Throws bad_format for one malformed row more than allowed.
  bool next(Row& row);
  // Where next() goes on. Any value it had may be given to seek(), also of another reader of the same source.
  virtual std::uint64_t position() const = 0;
  virtual void seek(std::uint64_t position) = 0;
  virtual std::uint64_t end() const = 0;  // the position after the last row
  // Each malformed row counts once, however often it is passed.
  const BadRows& bad_rows() const { return bad_rows_; }

 protected:
  explicit RowReader(const DataSource& source) : max_bad_rows_(source.max_bad_rows), label_names_(source.label_names) {}
  // The row at position(), which moves past it even when this throws bad_format; false at the end.
  virtual bool read(Row& row) = 0;

 private:
  void name_labels(Row& row) const;
  void count_bad_row(std::uint64_t place, const std::string& message);

  std::size_t max_bad_rows_;
  std::vector<std::string> label_names_;
  BadRows bad_rows_;
  std::uint64_t counted_to_ = 0;  // positions before it are counted
};

// "document, lines, ... or squad": what DataSource::format may be.
std::string data_formats();

// Throws not_found, and invalid_argument for a format that cannot give what is needed and for a column that does not
// fit or that the header lacks.
std::unique_ptr<RowReader> open_reader(const DataSource& source);

}  // namespace heed

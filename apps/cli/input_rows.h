// Texts to be answered, from files and from standard input, row by row: plain lines, JSON lines, CSV or TSV. A byte
// order mark is skipped, lines may end in CR LF, .gz is unpacked, and blank lines are passed over and counted, unless
// they are to stay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/base/stop.h"

namespace heed::cli {

// A field of what is asked, and where the rows of JSON lines and tables have it.
struct InputField {
  std::string name;
  std::string column{};   // a name, or a number from 0; "": by `name`. What is set must be there
  std::string flag{};     // which sets the column
  bool optional = false;  // tables need no column of that name
  bool first = false;     // by default column 0 of tables without a header
};

struct InputFormat {
  // lines, jsonl, csv or tsv; "": by the extension (.txt, .jsonl, .ndjson or .json, .csv, .tsv, in capitals or not),
  // and where that says nothing lines, or JSON lines if the first row begins with {.
  std::string name{};
  char separator = 0;  // of the columns of tables; 0: a comma, a tab
  bool header = true;  // of tables; without one the columns are called 0, 1 ...
  std::vector<InputField> fields{};
  bool keeps_blank = false;  // blank lines of plain texts are rows
};

// A text of the command line, or a row of a file.
struct InputLine {
  std::string text{};             // the line as it is
  Json fields{};                  // of JSON lines and tables, by InputField::name; else null
  Json carried = Json::object();  // what else the row has, such as an id
  std::string where{};            // file:line, for errors

  // fields[name]; of a plain line the line itself.
  std::string text_of(const std::string& name) const;
};

class InputRows {
 public:
  virtual ~InputRows() = default;
  // False at the end. Throws bad_format with file and line for a row that is broken or not UTF-8.
  virtual bool next(InputLine& line) = 0;
  // Whether next() need not wait for somebody who is still writing.
  virtual bool ready() { return true; }
  virtual double share() const = 0;  // of the file that is read; negative if it is not known
  virtual std::size_t blank_lines() const = 0;
};

// Whether it is the name of a file with an extension that says its format.
bool names_input(const std::string& text);

// "-" is standard input. Waiting for input ends with `stop`. Throws invalid_argument for a column that a table lacks.
std::unique_ptr<InputRows> open_input(const std::string& path, const InputFormat& format, const StopToken& stop = {});

}  // namespace heed::cli

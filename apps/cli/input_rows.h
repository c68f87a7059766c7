// Texts to be answered, from files and from standard input, row by row: plain lines, JSON lines, CSV or TSV. A byte
// order mark is skipped, lines may end in CR LF, .gz is unpacked, and blank lines are passed over and counted.
#pragma once

#include <memory>
#include <string>

#include "heed/base/json.h"
#include "heed/base/stop.h"

namespace heed::cli {

// A text of the command line, or a row of a file.
struct InputLine {
  std::string text{};   // the line as it is
  Json fields{};        // of JSON lines and tables; else null
  std::string where{};  // file:line, for errors

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

// "-" is standard input. The format is lines, jsonl, csv or tsv; "": by the extension (.txt, .jsonl, .ndjson or .json,
// .csv, .tsv, in capitals or not), and where that says nothing lines, or JSON lines if the first row begins with {.
// Tables begin with a header. Waiting for input ends with `stop`.
std::unique_ptr<InputRows> open_input(const std::string& path, const std::string& format, const StopToken& stop = {});

}  // namespace heed::cli

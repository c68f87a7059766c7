// CSV by RFC 4180 (a field in quotes may hold separators, doubled quotes and line ends) and TSV, which has no quotes:
// rows as lists of fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/line_file.h"

namespace heed::detail {

struct TableRow {
  std::uint64_t begin = 0;  // its first byte in the file
  std::vector<std::string> fields{};
};

// What stands between columns: a comma if fields may be quoted, else a tab, unless another is given.
char table_separator(bool quoted, char separator);
// Whether a field in quotes goes on after the line; `inside`: whether one went on before it.
bool ends_in_quotes(std::string_view line, char separator, bool inside);

class TableRows {
 public:
  // Reads the header, if there is to be one. The file must outlive this. Separator 0: the usual one.
  TableRows(LineFile& file, bool quoted, bool header, char separator = 0);

  const std::vector<std::string>& names() const { return names_; }  // of the header; empty without one
  std::size_t width() const { return width_; }
  // The column of that name, or else of that number from 0.
  std::optional<std::size_t> column(const std::string& wanted) const;
  // Throws invalid_argument: there is no such column. `advice` says what to do.
  [[noreturn]] void fail_without(const std::string& wanted, const std::string& advice) const;
  void seek(std::uint64_t position) { file_.seek(std::max(position, body_)); }

  // The next row; false at the end. Blank lines are passed over. Throws bad_format, and then is past the row, or past
  // its first line if its end is not known.
  bool next(TableRow& row);

 private:
  std::string_view first_line() const;
  std::vector<std::string> split();

  LineFile& file_;
  bool quoted_;
  char separator_;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  std::uint64_t begin_ = 0, body_ = 0;  // where the table and its first row begin
};

}  // namespace heed::detail

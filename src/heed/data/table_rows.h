// CSV by RFC 4180 (a field in quotes may hold separators, doubled quotes and line ends) and TSV, which has no quotes:
// rows as lists of fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/line_file.h"

namespace heed::detail {

struct TableRow {
  std::uint64_t begin = 0;  // its first byte in the file
  std::vector<std::string> fields{};
};

class TableRows {
 public:
  // Reads the header, if there is to be one. The file must outlive this. Separator 0 is a comma if fields may be
  // quoted, else a tab.
  TableRows(LineFile& file, bool quoted, bool header, char separator = 0);

  const std::vector<std::string>& names() const { return names_; }  // of the header; empty without one
  std::size_t width() const { return width_; }
  std::string_view first_line() const;
  void seek(std::uint64_t position) { file_.seek(std::max(position, body_)); }

  // The next row; false at the end. Blank lines are passed over. Throws bad_format, and then is past the row, or past
  // its first line if its end is not known.
  bool next(TableRow& row);

 private:
  std::vector<std::string> split();

  LineFile& file_;
  bool quoted_;
  char separator_;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  std::uint64_t begin_ = 0, body_ = 0;  // where the table and its first row begin
};

}  // namespace heed::detail

// A file of text, mapped (or unpacked, if its name ends in .gz), and taken line by line from any place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/file.h"

namespace heed::detail {

inline constexpr std::size_t kMostRowBytes = 16 << 20;

class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& path);
  // Text that is in memory already; the name is for errors.
  LineFile(std::string name, std::string text);

  // The lines that follow those of text in memory, which is dropped; line numbers go on.
  void go_on(std::string text);

  std::string_view text() const { return file_ ? file_->text() : std::string_view(in_memory_); }
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position);
  bool at_end() const { return position_ >= text().size(); }
  double share() const;  // of the text that is read, 0 to 1

  // The next line without LF or CR LF; not to be asked at the end.
  std::string_view line();
  // Passes blank lines; false at the end of the file.
  bool skip_blank_lines();
  std::size_t blank_lines() const { return blank_lines_; }  // passed so far
  // "file:line" of the byte at `offset`, lines counted from 1.
  std::string where(std::uint64_t offset);
  std::size_t line_number(std::uint64_t offset);
  const std::string& name() const { return name_; }

  // Throws bad_format unless the row is UTF-8 and has at most kMostRowBytes.
  void check_row(std::string_view row);

 private:
  std::optional<MappedFile> file_;
  std::string in_memory_;
  std::string name_;
  std::uint64_t position_ = 0;
  std::size_t blank_lines_ = 0;
  // Lines before each block of kBlock bytes, as far as somebody asked, and the last answer.
  std::vector<std::size_t> lines_before_{0};
  std::uint64_t last_offset_ = 0;
  std::size_t last_line_ = 0;
  std::size_t dropped_lines_ = 0;  // by go_on()
};

// Nothing but spaces, tabs and carriage returns.
bool is_blank(std::string_view line);

}  // namespace heed::detail

#include "heed/data/line_file.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/gzip.h"

namespace heed::detail {
namespace {

constexpr std::uint64_t kBlock = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

LineFile::LineFile(const std::filesystem::path& path) : name_(path.string()) {
  if (is_gzip(path)) {
    in_memory_ = read_gzip(path);
  } else {
    file_.emplace(path);
  }
  seek(0);
}

LineFile::LineFile(std::string name, std::string text) : in_memory_(std::move(text)), name_(std::move(name)) {
  seek(0);
}

void LineFile::go_on(std::string text) {
  dropped_lines_ += lines_in(in_memory_);
  in_memory_ = std::move(text);
  position_ = last_offset_ = 0;
  last_line_ = 0;
  lines_before_ = {0};
}

double LineFile::share() const {
  return text().empty() ? 1 : static_cast<double>(position_) / static_cast<double>(text().size());
}

void LineFile::seek(std::uint64_t position) {
  HEED_CHECK(position <= text().size(), name_, ": position ", position, " is after the end, ", text().size());
  position_ = position == 0 && text().starts_with(kByteOrderMark) ? kByteOrderMark.size() : position;
}

std::string_view LineFile::line() {
  std::string_view rest = text().substr(position_);
  const std::size_t length = std::min(rest.find('\n'), rest.size());
  position_ += std::min(length + 1, rest.size());
  rest = rest.substr(0, length);
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

bool LineFile::skip_blank_lines() {
  while (!at_end()) {
    const std::uint64_t begin = position_;
    if (!is_blank(line())) {
      position_ = begin;
      return true;
    }
    ++blank_lines_;
  }
  return false;
}

std::size_t LineFile::line_number(std::uint64_t offset) {
  if (offset < last_offset_ || offset - last_offset_ > kBlock) {
    const std::uint64_t block = offset / kBlock;
    while (lines_before_.size() <= block) {
      const std::uint64_t begin = (lines_before_.size() - 1) * kBlock;
      lines_before_.push_back(lines_before_.back() + lines_in(text().substr(begin, kBlock)));
    }
    last_offset_ = block * kBlock;
    last_line_ = lines_before_[block];
  }
  last_line_ += lines_in(text().substr(last_offset_, offset - last_offset_));
  last_offset_ = offset;
  return dropped_lines_ + last_line_ + 1;
}

std::string LineFile::where(std::uint64_t offset) {
  return name_ + ":" + std::to_string(line_number(offset));
}

void LineFile::check_row(std::string_view row) {
  const auto offset = static_cast<std::uint64_t>(row.data() - text().data());
  HEED_CHECK_AS(bad_format, row.size() <= kMostRowBytes, where(offset), ": a row of ", row.size(),
                " bytes, expected at most ", kMostRowBytes);
  const auto invalid = utf8_find_invalid(row);
  HEED_CHECK_AS(bad_format, !invalid, where(offset + *invalid), ": byte ", *invalid - (row.rfind('\n', *invalid) + 1),
                " of the line is not UTF-8");
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace heed::detail

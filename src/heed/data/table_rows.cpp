#include "heed/data/table_rows.h"

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

// The field in quotes that begins at `offset`, which moves past the closing quote.
std::string quoted_field(LineFile& file, std::uint64_t& offset) {
  const std::uint64_t opening = offset;
  const std::string_view text = file.text().substr(0, opening + kMostRowBytes);
  std::string field;
  for (;;) {
    const std::size_t quote = text.find('"', ++offset);
    HEED_CHECK_AS(bad_format, quote != std::string_view::npos, file.where(opening),
                  ": a quote opens a field here and never closes it");
    field += text.substr(offset, quote - offset);
    offset = quote + 1;
    if (!text.substr(offset).starts_with('"')) return field;
    field += '"';
  }
}

std::vector<std::string> split_at(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

}  // namespace

char table_separator(bool quoted, char separator) {
  if (separator) return separator;
  return quoted ? ',' : '\t';
}

bool ends_in_quotes(std::string_view line, char separator, bool inside) {
  for (std::size_t i = 0;;) {
    if (!inside && i < line.size() && line[i] == '"') {
      inside = true;
      ++i;
    }
    if (inside) {
      i = line.find('"', i);
      if (i == std::string_view::npos) return true;
      if (line.substr(++i).starts_with('"')) {
        ++i;
        continue;
      }
      inside = false;
    }
    i = line.find(separator, i);
    if (i == std::string_view::npos) return false;
    ++i;
  }
}

TableRows::TableRows(LineFile& file, bool quoted, bool header, char separator)
    : file_(file), quoted_(quoted), separator_(table_separator(quoted, separator)) {
  HEED_CHECK(std::string_view("\"\n\r").find(separator_) == std::string_view::npos, file.name(),
             ": the separator of columns cannot be a quote or the end of a line");
  if (!file_.skip_blank_lines()) return;
  begin_ = file_.position();
  std::vector<std::string> fields = split();
  width_ = fields.size();
  if (header) names_ = std::move(fields);
  body_ = header ? file_.position() : begin_;
  file_.seek(body_);
}

std::string_view TableRows::first_line() const {
  const std::string_view text = file_.text().substr(begin_);
  return text.substr(0, text.find('\n'));
}

std::optional<std::size_t> TableRows::column(const std::string& wanted) const {
  const auto named = std::ranges::find(names_, wanted);
  if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
  const auto number = column_number(wanted);
  return number && *number < width_ ? number : std::nullopt;
}

void TableRows::fail_without(const std::string& wanted, const std::string& advice) const {
  const bool other = width_ == 1 && first_line().find_first_of(",;\t|") != std::string_view::npos;
  fail(ErrorKind::invalid_argument, file_.name(), ": has no column \"", wanted, "\" among its ", width_,
       names_.empty() ? "" : ": ", join(names_, ", "), "; ", advice,
       other ? ", or the separator of columns (data.separator, --separator)" : "",
       names_.empty() ? "" : "; if the first row is no header: data.header=false, --no-header");
}

bool TableRows::next(TableRow& row) {
  if (!file_.skip_blank_lines()) return false;
  row.begin = file_.position();
  row.fields = split();
  HEED_CHECK_AS(bad_format, row.fields.size() == width_, file_.where(row.begin), ": has ", row.fields.size(),
                " columns, expected ", width_, names_.empty() ? " as the first row" : " as the header");
  return true;
}

std::vector<std::string> TableRows::split() {
  const std::uint64_t begin = file_.position();
  const std::string_view line = file_.line();
  if (!quoted_ || line.find('"') == std::string_view::npos) {
    file_.check_row(line);
    return split_at(line, separator_);
  }
  const char borders[] = {separator_, '\n', '\0'};
  std::vector<std::string> fields;
  std::uint64_t offset = begin;
  for (bool more = true; more;) {
    const bool quotes = file_.text().substr(offset).starts_with('"');
    if (quotes) fields.push_back(quoted_field(file_, offset));
    const std::size_t end = std::min(file_.text().find_first_of(borders, offset), file_.text().size());
    std::string_view rest = file_.text().substr(offset, end - offset);
    more = end < file_.text().size() && file_.text()[end] == separator_;
    if (!more && rest.ends_with('\r')) rest.remove_suffix(1);
    HEED_CHECK_AS(bad_format, !quotes || rest.empty(), file_.where(offset), ": \"", rest.substr(0, 20),
                  "\" follows the closing quote of a field, expected '", separator_, "'");
    if (!quotes) fields.emplace_back(rest);
    offset = std::min(end + 1, file_.text().size());
  }
  file_.check_row(file_.text().substr(begin, offset - begin));
  file_.seek(offset);
  return fields;
}

}  // namespace heed::detail

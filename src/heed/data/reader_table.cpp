// CSV by RFC 4180 (a field in quotes may hold commas, doubled quotes and line ends) and TSV, which has no quotes.
#include <algorithm>

#include "heed/base/error.h"
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

class TableReader : public FileReader {
 public:
  TableReader(const DataSource& source, bool quoted) : FileReader(source), source_(source), quoted_(quoted) {
    if (!skip_blank_lines()) return;
    const std::uint64_t first = file_.position();
    std::vector<std::string> fields = split_row();
    width_ = fields.size();
    if (source.header) names_ = std::move(fields);
    body_ = source.header ? file_.position() : first;
    file_.seek(body_);
    const Columns& columns = source.columns;
    const bool text = source.needs.contains(RowField::text);
    text_ = find(columns.text, {source.header ? "text" : "0"}, RowField::text, false);
    pair_ = find(columns.pair, {"text_pair"}, RowField::pair, text);
    label_ = find(columns.label, {"label"}, RowField::labels, true);
    score_ = find(columns.score, {"score"}, RowField::score, text);
    file_name_ = find(columns.files, {"file", "image", "audio"}, RowField::files, false);
    id_ = find_column(columns.id, {"id"}, false);
  }

  void seek(std::uint64_t position) override { file_.seek(std::max(position, body_)); }

 protected:
  bool read(Row& row) override {
    if (!skip_blank_lines()) return false;
    const std::uint64_t begin = file_.position();
    const std::vector<std::string> fields = split_row();
    const std::string where = file_.where(begin);
    HEED_CHECK_AS(bad_format, fields.size() == width_, where, ": has ", fields.size(), " columns, expected ", width_,
                  source_.header ? " as the header" : " as the first row");
    row.file = file_.name();
    row.line = file_.line_number(begin);
    if (text_) row.text = fields[*text_];
    if (pair_) row.pair = fields[*pair_];
    if (label_) row.labels = split_labels(fields[*label_], source_.label_separator, where);
    if (score_) row.score = parse_score(fields[*score_], where);
    if (file_name_) row.files.push_back(row_file(source_, fields[*file_name_], where));
    if (id_) row.id = fields[*id_];
    return true;
  }

 private:
  // Moves past the row; past its first line if it is malformed.
  std::vector<std::string> split_row() {
    const std::uint64_t begin = file_.position();
    const std::string_view line = file_.line();
    if (!quoted_ || line.find('"') == std::string_view::npos) {
      file_.check_row(line);
      return split(line, quoted_ ? ',' : '\t');
    }
    std::vector<std::string> fields;
    std::uint64_t offset = begin;
    for (bool more = true; more;) {
      const bool quotes = file_.text().substr(offset).starts_with('"');
      if (quotes) fields.push_back(quoted_field(file_, offset));
      const std::size_t end = std::min(file_.text().find_first_of(",\n", offset), file_.text().size());
      std::string_view rest = file_.text().substr(offset, end - offset);
      more = end < file_.text().size() && file_.text()[end] == ',';
      if (!more && rest.ends_with('\r')) rest.remove_suffix(1);
      HEED_CHECK_AS(bad_format, !quotes || rest.empty(), file_.where(offset), ": \"", rest.substr(0, 20),
                    "\" follows the closing quote of a field, expected a comma");
      if (!quotes) fields.emplace_back(rest);
      offset = std::min(end + 1, file_.text().size());
    }
    file_.check_row(file_.text().substr(begin, offset - begin));
    file_.seek(offset);
    return fields;
  }

  static std::vector<std::string> split(std::string_view line, char separator) {
    std::vector<std::string> fields;
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(separator, begin), line.size());
      fields.emplace_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return fields;
  }

  // Where a field is; `taken` if the table has it even when nobody needs it.
  std::optional<std::size_t> find(const std::string& column, const std::vector<std::string>& usual, RowField field,
                                  bool taken) const {
    const bool needed = source_.needs.contains(field);
    if (column.empty() && !needed && !taken) return {};
    return find_column(column, usual, needed);
  }

  std::optional<std::size_t> find_column(const std::string& column, const std::vector<std::string>& usual,
                                         bool needed) const {
    for (const std::string& wanted : column.empty() ? usual : std::vector{column}) {
      const auto named = std::ranges::find(names_, wanted);
      if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
      if (const auto number = column_number(wanted); number && *number < width_) return number;
    }
    if (column.empty() && !needed) return {};
    std::string known;
    for (const std::string& name : names_) known += (known.empty() ? ": " : ", ") + name;
    fail(ErrorKind::invalid_argument, file_.name(), ": has no column \"", column.empty() ? usual[0] : column,
         "\" among its ", width_, known, "; set the column to a name or a number from 0");
  }

  const DataSource source_;
  bool quoted_;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  std::uint64_t body_ = 0;  // where the first row begins
  std::optional<std::size_t> text_, pair_, label_, score_, file_name_, id_;
};

}  // namespace

std::unique_ptr<RowReader> open_tsv(const DataSource& source) {
  return std::make_unique<TableReader>(source, false);
}

std::unique_ptr<RowReader> open_csv(const DataSource& source) {
  return std::make_unique<TableReader>(source, true);
}

}  // namespace heed::detail

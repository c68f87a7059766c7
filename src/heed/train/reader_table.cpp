// CSV by RFC 4180 (a field in quotes may hold commas, doubled quotes and line ends) and TSV, which has no quotes.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/train/reader_formats.h"

namespace heed::detail {
namespace {

// The field in quotes that begins at `offset`, which moves behind the closing quote.
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
    std::vector<std::string> fields = row();
    width_ = fields.size();
    if (source.header) names_ = std::move(fields);
    body_ = source.header ? file_.position() : first;
    file_.seek(body_);
    text_ = *find(source.columns.text, source.header ? "text" : "0", true);
    pair_ = find(source.columns.pair, "text_pair");
    label_ = find(source.columns.label, "label");
    score_ = find(source.columns.score, "score");
    id_ = find(source.columns.id, "id");
  }

  void seek(std::uint64_t position) override { file_.seek(std::max(position, body_)); }

 protected:
  bool read(Example& example) override {
    if (!skip_blank_lines()) return false;
    const std::uint64_t begin = file_.position();
    const std::vector<std::string> fields = row();
    const std::string where = file_.where(begin);
    HEED_CHECK_AS(bad_format, fields.size() == width_, where, ": has ", fields.size(), " columns, expected ", width_,
                  source_.header ? " as the header" : " as the first row");
    example.file = file_.name();
    example.line = file_.line_number(begin);
    example.text = fields[text_];
    if (pair_) example.pair = fields[*pair_];
    if (label_) example.labels = split_labels(fields[*label_], source_.label_separator, where);
    if (score_) example.score = parse_score(fields[*score_], where);
    if (id_) example.id = fields[*id_];
    return true;
  }

 private:
  // Moves behind the row; behind its first line if it is malformed.
  std::vector<std::string> row() {
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
                    "\" stands behind the closing quote of a field, expected a comma");
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

  std::optional<std::size_t> find(const std::string& column, const std::string& usual, bool required = false) const {
    const std::string& wanted = column.empty() ? usual : column;
    const auto named = std::ranges::find(names_, wanted);
    if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
    if (const auto number = column_number(wanted); number && *number < width_) return number;
    if (column.empty() && !required) return {};
    std::string known;
    for (const std::string& name : names_) known += (known.empty() ? ": " : ", ") + name;
    fail(ErrorKind::invalid_argument, file_.name(), ": has no column \"", wanted, "\" among its ", width_, known,
         "; set the column to a name or a number from 0");
  }

  const DataSource source_;
  bool quoted_;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  std::uint64_t body_ = 0;  // where the first row begins
  std::size_t text_ = 0;
  std::optional<std::size_t> pair_, label_, score_, id_;
};

}  // namespace

std::unique_ptr<ExampleReader> open_table(const DataSource& source, bool quoted) {
  return std::make_unique<TableReader>(source, quoted);
}

}  // namespace heed::detail

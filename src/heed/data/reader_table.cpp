// Rows of CSV and TSV: which column is which field.
#include "heed/data/reader_formats.h"
#include "heed/data/table_rows.h"

namespace heed::detail {
namespace {

class TableReader : public FileReader {
 public:
  TableReader(const DataSource& source, bool quoted)
      : FileReader(source), source_(source), rows_(file_, quoted, source.header, source.separator) {
    if (rows_.width() == 0) return;
    const Columns& columns = source.columns;
    const bool text = source.needs.contains(RowField::text);
    text_ = find("data.text, --text", columns.text, {source.header ? "text" : "0"}, RowField::text, false);
    pair_ = find("data.pair, --pair", columns.pair, {"text_pair"}, RowField::pair, text);
    label_ = find("data.label, --label", columns.label, {"label"}, RowField::labels, true);
    score_ = find("data.score, --score", columns.score, {"score"}, RowField::score, text);
    file_name_ = find("--files", columns.files, {"file", "image", "audio"}, RowField::files, false);
    id_ = find_column("columns.id", columns.id, {"id"}, false);
  }

  void seek(std::uint64_t position) override { rows_.seek(position); }

 protected:
  bool read(Row& row) override {
    TableRow found;
    if (!rows_.next(found)) return false;
    const std::vector<std::string>& fields = found.fields;
    const std::string where = file_.where(found.begin);
    row.file = file_.name();
    row.line = file_.line_number(found.begin);
    if (text_) row.text = fields[*text_];
    if (pair_) row.pair = fields[*pair_];
    if (label_) row.labels = split_labels(fields[*label_], source_.label_separator, where);
    if (score_) row.score = parse_score(fields[*score_], where);
    if (file_name_) row.files.push_back(row_file(source_, fields[*file_name_], where));
    if (id_) row.id = fields[*id_];
    return true;
  }

 private:
  // Where a field is, whose column `setting` names; `taken` if the table has it even when it is not needed.
  std::optional<std::size_t> find(const std::string& setting, const std::string& column,
                                  const std::vector<std::string>& usual, RowField field, bool taken) const {
    const bool needed = source_.needs.contains(field);
    if (column.empty() && !needed && !taken) return {};
    return find_column(setting, column, usual, needed);
  }

  std::optional<std::size_t> find_column(const std::string& setting, const std::string& column,
                                         const std::vector<std::string>& usual, bool needed) const {
    for (const std::string& wanted : column.empty() ? usual : std::vector{column}) {
      if (const auto found = rows_.column(wanted)) return found;
    }
    if (column.empty() && !needed) return {};
    rows_.fail_without(column.empty() ? usual[0] : column, "set " + setting + ", to a name or a number from 0");
  }

  const DataSource source_;
  TableRows rows_;
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

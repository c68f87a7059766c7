#include "input_table.h"

#include <optional>

#include "heed/base/error.h"
#include "heed/data/table_rows.h"

namespace heed::cli {
namespace {

using detail::LineFile;

// The rows of a stream: each the lines that it takes up.
class StreamRows {
 public:
  StreamRows(std::unique_ptr<LineStream> stream, bool quoted, char separator)
      : stream_(std::move(stream)), quoted_(quoted), separator_(detail::table_separator(quoted, separator)) {}

  const std::string& name() const { return stream_->name(); }
  bool ready() {
    while (!whole() && stream_->ready()) take_line();
    return whole();
  }
  // The lines of the next row, or one blank line; "" at the end.
  std::string next() {
    while (!whole()) take_line();
    open_ = false;
    return std::exchange(row_, "");
  }

 private:
  // A row that is too long is given as it is: its reader refuses it.
  bool whole() const { return ended_ || (!row_.empty() && !open_) || row_.size() > detail::kMostRowBytes; }

  void take_line() {
    std::string line;
    ended_ = !stream_->line(line);
    if (ended_) return;
    open_ = quoted_ && detail::ends_in_quotes(line, separator_, open_);
    row_ += line + "\n";
  }

  std::unique_ptr<LineStream> stream_;
  bool quoted_;
  char separator_;
  std::string row_;
  bool open_ = false, ended_ = false;
};

// With blank lines before it.
std::unique_ptr<LineFile> first_row(StreamRows& stream) {
  std::string text, row;
  do {
    row = stream.next();
    text += row;
  } while (!row.empty() && detail::is_blank(std::string_view(row).substr(0, row.size() - 1)));
  return std::make_unique<LineFile>(stream.name(), text);
}

class TableInput : public InputRows {
 public:
  // Of a file, or of a stream whose first row is the file.
  TableInput(std::unique_ptr<LineFile> file, std::optional<StreamRows> stream, bool quoted, const InputFormat& format)
      : file_(std::move(file)),
        stream_(std::move(stream)),
        rows_(*file_, quoted, format.header, format.separator),
        names_(rows_.names()),
        fields_(format.fields) {
    for (const std::string& name : names_) {
      HEED_CHECK_AS(bad_format, std::ranges::count(names_, name) == 1, file_->name(),
                    ": two columns of the header are called \"", name, "\"");
    }
    if (rows_.width() > 0) find_columns(format.header);
    for (std::size_t i = names_.size(); i < rows_.width(); ++i) names_.push_back(std::to_string(i));
  }

  bool next(InputLine& row) override {
    detail::TableRow found;
    while (!rows_.next(found)) {
      std::string text = stream_ ? stream_->next() : "";
      if (text.empty()) return false;
      file_->go_on(std::move(text));
    }
    row = {.fields = Json::object(), .where = file_->where(found.begin)};
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (columns_[i]) row.fields[fields_[i].name] = found.fields[*columns_[i]];
    }
    for (std::size_t i = 0; i < found.fields.size(); ++i) {
      if (std::ranges::count(columns_, i) == 0) row.carried[names_[i]] = std::move(found.fields[i]);
    }
    return true;
  }
  bool ready() override { return !stream_ || !file_->at_end() || stream_->ready(); }
  double share() const override { return stream_ ? -1 : file_->share(); }
  std::size_t blank_lines() const override { return file_->blank_lines(); }

 private:
  void find_columns(bool header) {
    const InputField* lacking = nullptr;
    for (const InputField& field : fields_) {
      const std::string usual = field.first && !header ? "0" : field.name;
      columns_.push_back(rows_.column(field.column.empty() ? usual : field.column));
      if (!columns_.back() && (!field.column.empty() || !field.optional)) lacking = &field;
    }
    // Of several optional fields one has to be there.
    const bool any = std::ranges::any_of(columns_, [](const auto& column) { return column.has_value(); });
    if (!lacking && !any && !fields_.empty()) lacking = &fields_.back();
    if (!lacking) return;
    rows_.fail_without(lacking->column.empty() ? lacking->name : lacking->column,
                       lacking->flag.empty() ? "call the column so in the header"
                                             : "set " + lacking->flag + " to a name or a number from 0");
  }

  std::unique_ptr<LineFile> file_;
  std::optional<StreamRows> stream_;
  detail::TableRows rows_;
  std::vector<std::string> names_;
  std::vector<InputField> fields_;
  std::vector<std::optional<std::size_t>> columns_;  // of fields_
};

}  // namespace

std::unique_ptr<InputRows> table_of_file(const std::string& path, bool quoted, const InputFormat& format) {
  return std::make_unique<TableInput>(std::make_unique<LineFile>(path), std::nullopt, quoted, format);
}

std::unique_ptr<InputRows> table_of_stream(std::unique_ptr<LineStream> stream, bool quoted, const InputFormat& format) {
  StreamRows rows(std::move(stream), quoted, format.separator);
  auto first = first_row(rows);
  return std::make_unique<TableInput>(std::move(first), std::move(rows), quoted, format);
}

}  // namespace heed::cli

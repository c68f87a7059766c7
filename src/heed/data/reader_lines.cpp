// Lines of text, with or without a label in front.
#include "heed/base/error.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

class LinesReader : public FileReader {
 public:
  explicit LinesReader(const DataSource& source)
      : FileReader(source), label_first_(source.label_first), label_separator_(source.label_separator) {}

 protected:
  bool read(Row& row) override {
    if (!file_.skip_blank_lines()) return false;
    const std::uint64_t begin = file_.position();
    std::string_view line = file_.line();
    file_.check_row(line);
    row.file = file_.name();
    row.line = file_.line_number(begin);
    if (label_first_) {
      const std::size_t end = line.find_first_of(" \t");
      HEED_CHECK_AS(bad_format, end != std::string_view::npos && !is_blank(line.substr(end)), file_.where(begin),
                    ": is \"", line, "\", expected a label, a space and a text");
      row.labels = split_labels(line.substr(0, end), label_separator_, file_.where(begin));
      line = line.substr(end + 1);
    }
    row.text = line;
    return true;
  }

 private:
  bool label_first_;
  char label_separator_;
};

}  // namespace

std::unique_ptr<RowReader> open_lines(const DataSource& source) {
  if (source.needs.contains(RowField::pair)) return open_parallel_lines(source);
  return std::make_unique<LinesReader>(source);
}

}  // namespace heed::detail

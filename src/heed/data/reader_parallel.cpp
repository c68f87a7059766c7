// Two files of lines of which each belongs to the one with its number in the other: train.de and train.en.
#include "heed/base/error.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

namespace fs = std::filesystem;

// train.de.gz to train.en.gz.
fs::path other_file(const DataSource& source) {
  const std::string& text = source.columns.text;
  const std::string& pair = source.columns.pair;
  const std::string name = source.file.filename().string();
  HEED_CHECK(!text.empty() && !pair.empty(), source.file.string(),
             ": lines have a second text in another file, whose name differs by its ending: with text de and pair en "
             "train.de goes with train.en (data.text and data.pair, --text and --pair)");
  for (const char* packed : {"", ".gz"}) {
    const std::string ending = "." + text + packed;
    if (!name.ends_with(ending)) continue;
    return source.file.parent_path() / (name.substr(0, name.size() - ending.size()) + "." + pair + packed);
  }
  fail(ErrorKind::invalid_argument, source.file.string(), ": the name does not end with .", text, " or .", text,
       ".gz, which stands for the language of its lines");
}

// A file whose lines are found by their numbers from 0.
class NumberedLines {
 public:
  explicit NumberedLines(const fs::path& path) : file_(path) {
    while (!file_.at_end()) {
      begins_.push_back(file_.position());
      static_cast<void>(file_.line());
    }
  }
  std::size_t size() const { return begins_.size(); }
  const std::string& name() const { return file_.name(); }
  std::string where(std::size_t number) const { return name() + ":" + std::to_string(number + 1); }
  std::string_view line(std::size_t number) {
    file_.seek(begins_[number]);
    const std::string_view line = file_.line();
    file_.check_row(line);
    return line;
  }

 private:
  LineFile file_;
  std::vector<std::uint64_t> begins_;
};

// Positions are numbers of lines. Lines that are blank in both files are no rows.
class ParallelReader : public RowReader {
 public:
  explicit ParallelReader(const DataSource& source) : RowReader(source), text_(source.file), pair_(other_file(source)) {
    HEED_CHECK_AS(bad_format, text_.size() == pair_.size(), text_.name(), " has ", text_.size(), " lines and ",
                  pair_.name(), " has ", pair_.size(), ", expected a line for each");
  }
  std::uint64_t position() const override { return next_; }
  void seek(std::uint64_t position) override {
    HEED_CHECK(position <= text_.size(), text_.name(), ": line ", position, " is after the end, ", text_.size());
    next_ = position;
  }
  std::uint64_t end() const override { return text_.size(); }

 protected:
  bool read(Row& row) override {
    while (next_ < text_.size()) {
      const std::size_t number = next_++;
      const std::string_view text = text_.line(number), pair = pair_.line(number);
      const bool no_text = is_blank(text), no_pair = is_blank(pair);
      if (no_text && no_pair) continue;
      HEED_CHECK_AS(bad_format, !no_text && !no_pair, (no_text ? text_ : pair_).where(number), ": is blank, and ",
                    (no_text ? pair_ : text_).where(number), " is not");
      row.file = text_.name();
      row.line = number + 1;
      row.text = text;
      row.pair = pair;
      return true;
    }
    return false;
  }

 private:
  NumberedLines text_, pair_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> open_parallel_lines(const DataSource& source) {
  return std::make_unique<ParallelReader>(source);
}

}  // namespace heed::detail

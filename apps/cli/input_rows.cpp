#include "input_rows.h"

#include <sys/stat.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/gzip.h"
#include "heed/data/table_rows.h"
#include "line_stream.h"

namespace heed::cli {
namespace {

using detail::LineFile;

// Lines as they are in a file or come from a stream, blank ones too.
class Lines {
 public:
  virtual ~Lines() = default;
  virtual bool next(std::string& line) = 0;
  virtual bool ready() { return true; }
  virtual double share() const { return -1; }
  virtual const std::string& name() const = 0;
};

double share_of(const LineFile& file) {
  return file.text().empty() ? 1 : static_cast<double>(file.position()) / static_cast<double>(file.text().size());
}

class FileLines : public Lines {
 public:
  explicit FileLines(const std::string& path) : file_(path) {}
  bool next(std::string& line) override {
    if (file_.at_end()) return false;
    line = file_.line();
    return true;
  }
  double share() const override { return share_of(file_); }
  const std::string& name() const override { return file_.name(); }

 private:
  LineFile file_;
};

class StreamLines : public Lines {
 public:
  explicit StreamLines(std::unique_ptr<LineStream> stream) : stream_(std::move(stream)) {}
  bool next(std::string& line) override {
    const bool found = stream_->line(line);
    if (first_ && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    first_ = false;
    return found;
  }
  bool ready() override { return stream_->ready(); }
  const std::string& name() const override { return stream_->name(); }

 private:
  std::unique_ptr<LineStream> stream_;
  bool first_ = true;
};

// One text, or one JSON value, per line.
class LineRows : public InputRows {
 public:
  LineRows(std::unique_ptr<Lines> lines, const std::string& format) : lines_(std::move(lines)), format_(format) {}

  bool next(InputLine& row) override {
    std::string line;
    for (;;) {
      if (!lines_->next(line)) return false;
      ++number_;
      if (!detail::is_blank(line)) break;
      ++blank_;
    }
    const std::string where = lines_->name() + ":" + std::to_string(number_);
    HEED_CHECK_AS(bad_format, line.size() <= detail::kMostRowBytes, where, ": a row of ", line.size(),
                  " bytes, expected at most ", detail::kMostRowBytes);
    const auto invalid = utf8_find_invalid(line);
    HEED_CHECK_AS(bad_format, !invalid, where, ": byte ", *invalid, " of the line is not UTF-8");
    if (format_.empty()) guess(line, where);
    row = {std::move(line), {}, where};
    if (format_ == "jsonl") row.fields = parsed(row.text, where);
    return true;
  }
  bool ready() override { return lines_->ready(); }
  double share() const override { return lines_->share(); }
  std::size_t blank_lines() const override { return blank_; }

 private:
  // By the first line that is not blank.
  void guess(const std::string& line, const std::string& where) {
    constexpr const char* kBlanks = " \t\r";
    guessed_ = true;
    const std::size_t first = line.find_first_not_of(kBlanks);
    format_ = line[first] == '{' ? "jsonl" : "lines";
    if (line[first] != '[') return;
    const std::size_t second = line.find_first_not_of(kBlanks, first + 1);
    HEED_CHECK_AS(bad_format, second != std::string::npos && line[second] != '{', where,
                  ": begins like a JSON list of objects, expected one object per line (jq -c '.[]' makes them of a "
                  "list); if these are plain texts, add --format lines");
  }

  Json parsed(const std::string& line, const std::string& where) const {
    try {
      return parse_json(line, where);
    } catch (const Error& error) {
      fail(error.kind(), error.what(), "; expected one JSON object per line",
           guessed_ ? ", since the first line begins with {; if these are plain texts, add --format lines" : "");
    }
  }

  std::unique_ptr<Lines> lines_;
  std::string format_;
  bool guessed_ = false;
  std::size_t number_ = 0, blank_ = 0;
};

// Rows of CSV and TSV as objects, by the names of the header.
class TableInput : public InputRows {
 public:
  TableInput(std::unique_ptr<LineFile> file, bool quoted)
      : file_(std::move(file)), rows_(*file_, quoted, /*header=*/true) {
    for (const std::string& name : rows_.names()) {
      HEED_CHECK_AS(bad_format, std::ranges::count(rows_.names(), name) == 1, file_->name(),
                    ": two columns of the header are called \"", name, "\"");
    }
  }

  bool next(InputLine& row) override {
    detail::TableRow found;
    if (!rows_.next(found)) return false;
    row = {"", Json::object(), file_->where(found.begin)};
    for (std::size_t i = 0; i < found.fields.size(); ++i) row.fields[rows_.names()[i]] = std::move(found.fields[i]);
    return true;
  }
  double share() const override { return share_of(*file_); }
  std::size_t blank_lines() const override { return file_->blank_lines(); }

 private:
  std::unique_ptr<LineFile> file_;
  detail::TableRows rows_;
};

std::string format_of(const std::filesystem::path& path) {
  const std::string extension = detail::format_extension(path);
  if (extension == ".txt") return "lines";
  if (extension == ".jsonl" || extension == ".ndjson" || extension == ".json") return "jsonl";
  if (extension == ".csv" || extension == ".tsv") return extension.substr(1);
  return "";
}

bool is_stream(const std::string& path) {
  struct stat status;
  return path == "-" || (::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)));
}

}  // namespace

std::string InputLine::text_of(const std::string& name) const {
  return fields.is_null() ? text : json_required<std::string>(fields, name, where);
}

std::unique_ptr<InputRows> open_input(const std::string& path, const std::string& format, const StopToken& stop) {
  const std::string chosen = format.empty() ? format_of(path) : format;
  const bool table = chosen == "csv" || chosen == "tsv";
  if (!is_stream(path)) {
    if (table) return std::make_unique<TableInput>(std::make_unique<LineFile>(path), chosen == "csv");
    return std::make_unique<LineRows>(std::make_unique<FileLines>(path), chosen);
  }
  auto stream = std::make_unique<LineStream>(path, stop);
  if (!table) return std::make_unique<LineRows>(std::make_unique<StreamLines>(std::move(stream)), chosen);
  // A row may have any number of lines: it is simplest to know them all.
  auto text = std::make_unique<LineFile>(stream->name(), stream->rest(detail::kMostUnpackedBytes));
  return std::make_unique<TableInput>(std::move(text), chosen == "csv");
}

}  // namespace heed::cli

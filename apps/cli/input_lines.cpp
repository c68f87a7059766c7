#include "input_lines.h"

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/data/line_file.h"

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

class FileLines : public Lines {
 public:
  explicit FileLines(const std::string& path) : file_(path) {}
  bool next(std::string& line) override {
    if (file_.at_end()) return false;
    line = file_.line();
    return true;
  }
  double share() const override { return file_.share(); }
  const std::string& name() const override { return file_.name(); }

 private:
  LineFile file_;
};

class StreamLines : public Lines {
 public:
  explicit StreamLines(std::unique_ptr<LineStream> stream) : stream_(std::move(stream)) {}
  bool next(std::string& line) override {
    const bool found = stream_->line(line);
    if (line.ends_with('\r')) line.pop_back();
    return found;
  }
  bool ready() override { return stream_->ready(); }
  const std::string& name() const override { return stream_->name(); }

 private:
  std::unique_ptr<LineStream> stream_;
};

// One text, or one JSON value, per line.
class LineRows : public InputRows {
 public:
  LineRows(std::unique_ptr<Lines> lines, const InputFormat& format)
      : lines_(std::move(lines)), format_(format.name), fields_(format.fields), keeps_blank_(format.keeps_blank) {}

  bool next(InputLine& row) override {
    std::string line;
    for (;;) {
      if (!lines_->next(line)) return false;
      ++number_;
      if (!detail::is_blank(line)) break;
      if (keeps_blank_ && format_ != "jsonl") {
        row = {.where = where()};
        return true;
      }
      ++blank_;
    }
    const std::string where = this->where();
    HEED_CHECK_AS(bad_format, line.size() <= detail::kMostRowBytes, where, ": a row of ", line.size(),
                  " bytes, expected at most ", detail::kMostRowBytes);
    const auto invalid = utf8_find_invalid(line);
    HEED_CHECK_AS(bad_format, !invalid, where, ": byte ", *invalid, " of the line is not UTF-8");
    if (format_.empty()) guess(line, where);
    row = {.text = std::move(line), .where = where};
    if (format_ == "jsonl") {
      take_fields(parsed(row.text, where), row);
    } else {
      check_no_columns();
    }
    return true;
  }
  bool ready() override { return lines_->ready(); }
  double share() const override { return lines_->share(); }
  std::size_t blank_lines() const override { return blank_; }

 private:
  std::string where() const { return lines_->name() + ":" + std::to_string(number_); }

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

  // What is no object is for the verb to judge.
  void take_fields(Json value, InputLine& row) const {
    if (!value.is_object()) {
      row.fields = std::move(value);
      return;
    }
    row.fields = Json::object();
    std::vector<std::string> taken;
    for (const InputField& field : fields_) {
      const std::string& name = field.column.empty() ? field.name : field.column;
      if (value.contains(name)) {
        row.fields[field.name] = value[name];
        taken.push_back(name);
      } else if (!field.column.empty()) {
        fail(ErrorKind::bad_format, row.where, ": has no field \"", name, "\"; there is ",
             join(value.items(), ", ", [](const auto& item) { return item.key(); }));
      }
    }
    for (const std::string& name : taken) value.erase(name);
    row.carried = std::move(value);
  }

  void check_no_columns() const {
    for (const InputField& field : fields_) {
      HEED_CHECK(field.column.empty() || field.flag.empty(), lines_->name(), ": ", field.flag,
                 " names a column, and plain lines have none; if this is a table or JSON lines, add --format");
    }
  }

  std::unique_ptr<Lines> lines_;
  std::string format_;
  std::vector<InputField> fields_;
  bool keeps_blank_, guessed_ = false;
  std::size_t number_ = 0, blank_ = 0;
};

}  // namespace

std::unique_ptr<InputRows> lines_of_file(const std::string& path, const InputFormat& format) {
  return std::make_unique<LineRows>(std::make_unique<FileLines>(path), format);
}

std::unique_ptr<InputRows> lines_of_stream(std::unique_ptr<LineStream> stream, const InputFormat& format) {
  return std::make_unique<LineRows>(std::make_unique<StreamLines>(std::move(stream)), format);
}

}  // namespace heed::cli

// The readers behind open_reader(), one file a format, and what they share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/train/line_file.h"
#include "heed/train/readers.h"

namespace heed::detail {

std::unique_ptr<ExampleReader> open_lines(const DataSource& source);
std::unique_ptr<ExampleReader> open_table(const DataSource& source, bool quoted);  // quoted: CSV, else TSV
std::unique_ptr<ExampleReader> open_json_lines(const DataSource& source);
std::unique_ptr<ExampleReader> open_conll(const DataSource& source);
std::unique_ptr<ExampleReader> open_conllu(const DataSource& source);
std::unique_ptr<ExampleReader> open_squad(const DataSource& source);

// Positions are bytes of the file.
class FileReader : public ExampleReader {
 public:
  explicit FileReader(const DataSource& source) : ExampleReader(source.max_bad_rows), file_(source.file) {}

  std::uint64_t position() const override { return file_.position(); }
  void seek(std::uint64_t position) override { file_.seek(position); }
  std::uint64_t end() const override { return file_.text().size(); }

 protected:
  // Passes blank lines; false at the end of the file.
  bool skip_blank_lines();

  LineFile file_;
};

// The labels in one field: itself, or its parts between separators, less the spaces around them.
std::vector<std::string> split_labels(std::string_view field, char separator, const std::string& where);
double parse_score(std::string_view field, const std::string& where);
// A number from 0 if the column is given as one.
std::optional<std::size_t> column_number(const std::string& column);
// Adds an answer as a file has it; a start below 0 stands for none.
void add_answer(Example& example, std::string text, std::int64_t start);
// Tells answers that stand in the context where they say from others. Throws bad_format if there are but others.
void place_answers(Example& example, const std::string& where);

}  // namespace heed::detail

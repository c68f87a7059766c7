// The readers that open_reader() chooses from, one file per format, and what they share. Each finds `needs` filled.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/data/line_file.h"
#include "heed/data/readers.h"

namespace heed::detail {

std::unique_ptr<RowReader> open_document(const DataSource& source);
std::unique_ptr<RowReader> open_lines(const DataSource& source);
std::unique_ptr<RowReader> open_parallel_lines(const DataSource& source);
std::unique_ptr<RowReader> open_tsv(const DataSource& source);
std::unique_ptr<RowReader> open_csv(const DataSource& source);
std::unique_ptr<RowReader> open_json_lines(const DataSource& source);
std::unique_ptr<RowReader> open_conll(const DataSource& source);
std::unique_ptr<RowReader> open_conllu(const DataSource& source);
std::unique_ptr<RowReader> open_squad(const DataSource& source);

// Positions are bytes of the file.
class FileReader : public RowReader {
 public:
  explicit FileReader(const DataSource& source) : RowReader(source), file_(source.file) {}

  std::uint64_t position() const override { return file_.position(); }
  void seek(std::uint64_t position) override { file_.seek(position); }
  std::uint64_t end() const override { return file_.text().size(); }

 protected:
  LineFile file_;
};

// The labels in one field: itself, or its parts between separators, less the spaces around them.
std::vector<std::string> split_labels(std::string_view field, char separator, const std::string& where);
double parse_score(std::string_view field, const std::string& where);
// A file that a row names: relative names begin at the data file's folder.
std::filesystem::path row_file(const DataSource& source, const std::string& name, const std::string& where);
// A number from 0 if the column is given as one.
std::optional<std::size_t> column_number(const std::string& column);
// Adds an answer as a file has it; a start below 0 stands for none.
void add_answer(Row& row, std::string text, std::int64_t start);
// Tells answers that stand in the context where they say from others. Throws bad_format if there are only others.
void place_answers(Row& row, const std::string& where);

}  // namespace heed::detail

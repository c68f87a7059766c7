// Sentences in columns, one word per line, ended by a blank line: CoNLL (columns by number) and CoNLL-U.
#include <algorithm>
#include <cctype>

#include "heed/base/error.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

constexpr std::string_view kUniversalColumns[] = {"id",    "form", "lemma",  "upos", "xpos",
                                                  "feats", "head", "deprel", "deps", "misc"};

// Between tabs, or in a line without tabs between runs of spaces.
std::vector<std::string_view> split_columns(std::string_view line) {
  const bool tabs = line.find('\t') != std::string_view::npos;
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) columns.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

class ColumnsReader : public FileReader {
 public:
  using FileReader::FileReader;

 protected:
  bool read(Row& row) override {
    while (file_.skip_blank_lines()) {
      const std::uint64_t begin = file_.position();
      std::vector<std::string_view> lines;
      while (!file_.at_end()) {
        const std::string_view line = file_.line();
        if (is_blank(line)) break;
        lines.push_back(line);
      }
      file_.check_row(file_.text().substr(begin, file_.position() - begin));
      row.file = file_.name();
      for (const std::string_view line : lines) {
        const auto offset = static_cast<std::uint64_t>(line.data() - file_.text().data());
        if (read_line(line, file_.where(offset), row)) row.label_lines.push_back(file_.line_number(offset));
      }
      if (row.words.empty()) continue;
      row.line = row.label_lines[0];
      return true;
    }
    return false;
  }
  // Adds the word and its label; false if the line holds none.
  virtual bool read_line(std::string_view line, const std::string& where, Row& row) = 0;

  static void add_word(const std::vector<std::string_view>& columns, std::size_t word, std::size_t label,
                       const std::string& where, Row& row) {
    HEED_CHECK_AS(bad_format, !columns[word].empty() && !columns[label].empty(), where, ": the ",
                  columns[word].empty() ? "word" : "label", " is empty");
    row.words.emplace_back(columns[word]);
    row.labels.emplace_back(columns[label]);
  }
};

class ConllReader : public ColumnsReader {
 public:
  explicit ConllReader(const DataSource& source)
      : ColumnsReader(source), label_(number(source.columns.label, "label")) {
    if (const auto word = number(source.columns.words, "words")) word_ = *word;
  }

 protected:
  bool read_line(std::string_view line, const std::string& where, Row& row) override {
    if (line.starts_with("-DOCSTART-")) return false;
    const auto columns = split_columns(line);
    const std::size_t needed = std::max<std::size_t>({2, word_ + 1, label_.value_or(0) + 1});
    HEED_CHECK_AS(bad_format, columns.size() >= needed, where, ": has ", columns.size(), " columns, expected ",
                  label_ ? "" : "at least ", needed, " (word and label)");
    add_word(columns, word_, label_.value_or(columns.size() - 1), where, row);
    return true;
  }

 private:
  static std::optional<std::size_t> number(const std::string& column, std::string_view what) {
    const auto value = column_number(column);
    HEED_CHECK(value || column.empty(), "the column of CoNLL's ", what, " is \"", column,
               "\", expected a number from 0");
    return value;
  }

  std::size_t word_ = 0;
  std::optional<std::size_t> label_;
};

class UniversalReader : public ColumnsReader {
 public:
  explicit UniversalReader(const DataSource& source)
      : ColumnsReader(source), word_(find(source.columns.words, "form")), label_(find(source.columns.label, "upos")) {}

 protected:
  bool read_line(std::string_view line, const std::string& where, Row& row) override {
    if (line.starts_with('#')) return false;
    const auto columns = split_columns(line);
    HEED_CHECK_AS(bad_format, columns.size() == std::size(kUniversalColumns), where, ": has ", columns.size(),
                  " columns, expected ", std::size(kUniversalColumns), " with tabs between");
    const std::string_view id = columns[0];
    HEED_CHECK_AS(bad_format, !id.empty() && id.find_first_not_of("0123456789-.") == std::string_view::npos, where,
                  ": the id is \"", id, "\", expected a number");
    // 1-2 spans words that follow one by one; 1.1 is a word that the text does not have.
    if (id.find_first_of("-.") != std::string_view::npos) return false;
    add_word(columns, word_, label_, where, row);
    return true;
  }

 private:
  static std::size_t find(const std::string& column, std::string_view usual) {
    const auto named = std::ranges::find(kUniversalColumns, column.empty() ? usual : std::string_view(column));
    if (named != std::end(kUniversalColumns)) return static_cast<std::size_t>(named - std::begin(kUniversalColumns));
    const auto number = column_number(column);
    HEED_CHECK(number && *number < std::size(kUniversalColumns), "CoNLL-U has no column \"", column,
               "\", expected a number from 0 to 9 or one of id, form, lemma, upos, xpos, feats, head, deprel, deps, "
               "misc");
    return *number;
  }

  std::size_t word_, label_;
};

}  // namespace

std::unique_ptr<RowReader> open_conll(const DataSource& source) {
  return std::make_unique<ConllReader>(source);
}

std::unique_ptr<RowReader> open_conllu(const DataSource& source) {
  return std::make_unique<UniversalReader>(source);
}

}  // namespace heed::detail

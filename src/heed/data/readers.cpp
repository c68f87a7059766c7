#include "heed/data/readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/base/stop.h"
#include "heed/base/utf8.h"
#include "heed/data/gzip.h"
#include "heed/data/reader_formats.h"

namespace heed {
namespace {

constexpr std::size_t kMessagesKept = 5;

struct Format {
  std::string_view name;
  std::vector<std::string_view> extensions;
  RowFields fields;  // what its rows can have
  RowFields usual;   // what is needed by default
  std::unique_ptr<RowReader> (*open)(const DataSource&);
};

const std::vector<Format>& formats() {
  using enum RowField;
  const RowFields table = {text, pair, labels, score, files}, tagged = {words, labels}, asked = {text, pair, answers};
  static const std::vector<Format> all = {
      {"document", {}, {text}, {text}, detail::open_document},
      {"lines", {".txt"}, {text, pair, labels}, {text}, detail::open_lines},
      {"tsv", {".tsv"}, table, {text}, detail::open_tsv},
      {"csv", {".csv"}, table, {text}, detail::open_csv},
      {"jsonl",
       {".jsonl", ".ndjson"},
       {text, pair, texts, words, labels, score, numbers, answers, files, items, messages},
       {text},
       detail::open_json_lines},
      {"conll", {".conll", ".bio"}, tagged, tagged, detail::open_conll},
      {"conllu", {".conllu"}, tagged, tagged, detail::open_conllu},
      {"squad", {".json"}, asked, asked, detail::open_squad},
  };
  return all;
}

const Format& format_of(const DataSource& source) {
  const std::string extension = detail::format_extension(source.file);
  for (const Format& format : formats()) {
    if (source.format.empty() ? std::ranges::count(format.extensions, extension) > 0 : format.name == source.format) {
      return format;
    }
  }
  HEED_CHECK(!source.format.empty(), source.file.string(), ": the extension \"", extension,
             "\" does not tell the format; set it to ", data_formats());
  fail(ErrorKind::invalid_argument, source.file.string(), ": the format is \"", source.format, "\", expected ",
       data_formats());
}

// "jsonl, conll or conllu": those whose rows can have the field.
std::string formats_with(RowField field) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (format.fields.contains(field)) names.push_back(format.name);
  }
  return join_or(names);
}

}  // namespace

std::string data_formats() {
  return join_or(formats(), &Format::name);
}

bool RowReader::next(Row& row) {
  for (;;) {
    StopScope::current().check("[data]");
    const std::uint64_t place = position();
    row = Row();
    try {
      if (!read(row)) return false;
      name_labels(row);
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_format) throw;
      count_bad_row(place, error.what());
    }
  }
}

void RowReader::name_labels(Row& row) const {
  if (label_names_.empty()) return;
  for (std::size_t i = 0; i < row.labels.size(); ++i) {
    std::string& label = row.labels[i];
    if (std::ranges::find(label_names_, label) != label_names_.end()) continue;
    const auto number = detail::column_number(label);
    HEED_CHECK_AS(bad_format, number && *number < label_names_.size(), row.place_of_label(i), ": the label is \"",
                  label, "\", expected one of the ", label_names_.size(), " label_names or its number from 0");
    label = label_names_[*number];
  }
}

void RowReader::count_bad_row(std::uint64_t place, const std::string& message) {
  if (place < counted_to_) return;
  counted_to_ = position();
  ++bad_rows_.count;
  if (bad_rows_.messages.size() < kMessagesKept) bad_rows_.messages.push_back(message);
  if (bad_rows_.count <= max_bad_rows_) return;
  if (max_bad_rows_ == 0) fail(ErrorKind::bad_format, message);
  std::string list;
  for (const std::string& each : bad_rows_.messages) list += "\n  " + each;
  fail(ErrorKind::bad_format, bad_rows_.count, " malformed rows, at most ", max_bad_rows_,
       " are allowed (max_bad_rows). The first:", list);
}

std::unique_ptr<RowReader> open_reader(const DataSource& source) {
  const Format& format = format_of(source);
  for (const RowField field : source.needs) {
    HEED_CHECK(format.fields.contains(field), source.file.string(), ": files of the format ", format.name, " have no ",
               kRowFields[static_cast<std::size_t>(field)], "; is its format another one, ", formats_with(field),
               "? Set it (data.format, --format)");
  }
  if (!source.needs.empty()) return format.open(source);
  DataSource usual = source;
  usual.needs = format.usual;
  return format.open(usual);
}

namespace detail {

std::vector<std::string> split_labels(std::string_view field, char separator, const std::string& where) {
  const auto trimmed = [](std::string_view part) {
    const std::size_t first = part.find_first_not_of(" \t"), last = part.find_last_not_of(" \t");
    return first == std::string_view::npos ? std::string() : std::string(part.substr(first, last - first + 1));
  };
  std::vector<std::string> labels;
  if (separator == 0) {
    labels.push_back(trimmed(field));
    HEED_CHECK_AS(bad_format, !labels[0].empty(), where, ": the label is empty");
    return labels;
  }
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find(separator, begin), field.size());
    if (std::string label = trimmed(field.substr(begin, end - begin)); !label.empty()) labels.push_back(label);
    begin = end + 1;
  }
  return labels;
}

double parse_score(std::string_view field, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  HEED_CHECK_AS(bad_format, error == std::errc() && end == field.data() + field.size() && std::isfinite(value), where,
                ": the score is \"", field, "\", expected a number");
  return value;
}

std::filesystem::path row_file(const DataSource& source, const std::string& name, const std::string& where) {
  HEED_CHECK_AS(bad_format, !name.empty() && name.find('\0') == std::string::npos, where, ": ",
                name.empty() ? "the file name is empty" : "the file name has a null character");
  return source.file.parent_path() / name;
}

std::optional<std::size_t> column_number(const std::string& column) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (column.empty() || error != std::errc() || end != column.data() + column.size()) return {};
  return number;
}

void add_answer(Row& row, std::string text, std::int64_t start) {
  row.answers.push_back({std::move(text), start < 0 ? AnswerSpan::kNowhere : static_cast<std::size_t>(start)});
}

void place_answers(Row& row, const std::string& where) {
  const std::string_view context = *row.pair;
  for (AnswerSpan& answer : row.answers) {
    std::size_t characters = 0, offset = 0;
    while (characters < answer.start && offset < context.size()) {
      offset += utf8_decode(context, offset).length;
      ++characters;
    }
    const bool stands = characters == answer.start && !answer.text.empty();
    if (!stands || !context.substr(offset).starts_with(answer.text)) answer.start = AnswerSpan::kNowhere;
  }
  std::stable_partition(row.answers.begin(), row.answers.end(),
                        [](const AnswerSpan& answer) { return answer.start != AnswerSpan::kNowhere; });
  HEED_CHECK_AS(bad_format, row.answers.empty() || row.answers[0].start != AnswerSpan::kNowhere, where,
                ": the answer \"", row.answers[0].text, "\" is not where answer_start says in the context");
}

}  // namespace detail
}  // namespace heed

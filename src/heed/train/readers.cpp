#include "heed/train/readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/train/reader_formats.h"

namespace heed {
namespace {

constexpr std::size_t kMessagesKept = 5;

std::string format_of(const DataSource& source) {
  if (!source.format.empty()) return source.format;
  static const std::map<std::string, std::string> formats = {
      {".txt", "lines"},   {".tsv", "tsv"},   {".csv", "csv"},       {".jsonl", "jsonl"},
      {".conll", "conll"}, {".bio", "conll"}, {".conllu", "conllu"}, {".json", "squad"}};
  const auto found = formats.find(source.file.extension().string());
  HEED_CHECK(found != formats.end(), source.file.string(), ": the extension \"", source.file.extension().string(),
             "\" does not tell the format; set it to lines, tsv, csv, jsonl, conll, conllu or squad");
  return found->second;
}

RowKind usual_rows(const std::string& format) {
  if (format == "conll" || format == "conllu") return RowKind::words;
  return format == "squad" ? RowKind::questions : RowKind::text;
}

}  // namespace

bool ExampleReader::next(Example& example) {
  for (;;) {
    const std::uint64_t place = position();
    example = Example();
    try {
      return read(example);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_format) throw;
      count_bad_row(place, error.what());
    }
  }
}

void ExampleReader::count_bad_row(std::uint64_t place, const std::string& message) {
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

std::unique_ptr<ExampleReader> open_reader(const DataSource& source) {
  const std::string format = format_of(source);
  const RowKind usual = usual_rows(format), rows = source.rows.value_or(usual);
  HEED_CHECK(rows == usual || format == "jsonl", source.file.string(), ": files of the format ", format, " have no ",
             rows == RowKind::text    ? "texts as rows"
             : rows == RowKind::words ? "tagged words"
                                      : "questions",
             "; JSON lines (jsonl) can");
  if (format == "lines") return detail::open_lines(source);
  if (format == "tsv" || format == "csv") return detail::open_table(source, format == "csv");
  if (format == "jsonl") return detail::open_json_lines(source);
  if (format == "conll") return detail::open_conll(source);
  if (format == "conllu") return detail::open_conllu(source);
  if (format == "squad") return detail::open_squad(source);
  fail(ErrorKind::invalid_argument, source.file.string(), ": the format is \"", format,
       "\", expected lines, tsv, csv, jsonl, conll, conllu or squad");
}

namespace detail {

bool FileReader::skip_blank_lines() {
  while (!file_.at_end()) {
    const std::uint64_t begin = file_.position();
    if (!is_blank(file_.line())) {
      file_.seek(begin);
      return true;
    }
  }
  return false;
}

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

std::optional<std::size_t> column_number(const std::string& column) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (column.empty() || error != std::errc() || end != column.data() + column.size()) return {};
  return number;
}

void add_answer(Example& example, std::string text, std::int64_t start) {
  example.answers.push_back({std::move(text), start < 0 ? AnswerSpan::kNowhere : static_cast<std::size_t>(start)});
}

void place_answers(Example& example, const std::string& where) {
  const std::string_view context = *example.pair;
  for (AnswerSpan& answer : example.answers) {
    std::size_t characters = 0, offset = 0;
    while (characters < answer.start && offset < context.size()) {
      offset += utf8_decode(context, offset).length;
      ++characters;
    }
    const bool stands = characters == answer.start && !answer.text.empty();
    if (!stands || !context.substr(offset).starts_with(answer.text)) answer.start = AnswerSpan::kNowhere;
  }
  std::stable_partition(example.answers.begin(), example.answers.end(),
                        [](const AnswerSpan& answer) { return answer.start != AnswerSpan::kNowhere; });
  HEED_CHECK_AS(bad_format, example.answers.empty() || example.answers[0].start != AnswerSpan::kNowhere, where,
                ": the answer \"", example.answers[0].text, "\" is not where answer_start says in the context");
}

}  // namespace detail
}  // namespace heed

#include "heed/metrics/metric_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string place(const MetricFile& file, std::size_t line) {
  return file.name + ":" + std::to_string(line + 1);
}

double number_of(std::string_view text, const std::string& where) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  HEED_CHECK_AS(bad_format, error == std::errc() && stopped == end && std::isfinite(value), where, ": \"", text,
                "\" is not a number");
  return value;
}

// By its name, packed by gzip or not.
bool ends_in(const MetricFile& file, std::string_view extension) {
  std::string_view name = file.name;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(extension);
}

bool has_columns(const MetricFile& file, const std::string& format) {
  if (format.empty()) return ends_in(file, ".conll") || ends_in(file, ".bio");
  return format == "conll";
}

std::vector<std::string> copied(const std::vector<std::string_view>& words) {
  return {words.begin(), words.end()};
}

}  // namespace

std::vector<std::optional<std::string>> optional_lines_of(const MetricFile& file) {
  std::vector<std::optional<std::string>> lines;
  const bool json = ends_in(file, ".jsonl");
  for (std::size_t begin = 0; begin < file.text.size();) {
    const std::size_t end = std::min(file.text.find('\n', begin), file.text.size());
    const std::string_view line = file.text.substr(begin, end - begin);
    const std::string where = place(file, lines.size());
    const auto invalid = utf8_find_invalid(line);
    HEED_CHECK_AS(bad_format, !invalid, where, ": byte ", *invalid, " of the line is not UTF-8");
    if (!json) {
      lines.emplace_back(line);
    } else if (const Json value = parse_json(line, where); value.is_null()) {
      lines.emplace_back();
    } else {
      lines.emplace_back(json_as<std::string>(value, "the line", where));
    }
    begin = end + 1;
  }
  HEED_CHECK_AS(bad_format, !lines.empty(), file.name, ": is empty");
  return lines;
}

std::vector<std::string> lines_of(const MetricFile& file) {
  std::vector<std::string> lines;
  for (auto& line : optional_lines_of(file)) {
    HEED_CHECK_AS(bad_format, line, place(file, lines.size()), ": is null, expected a text");
    lines.push_back(std::move(*line));
  }
  return lines;
}

std::vector<std::string> trimmed_lines(const MetricFile& file) {
  std::vector<std::string> lines = lines_of(file);
  if (lines[0].starts_with(kByteOrderMark)) lines[0].erase(0, kByteOrderMark.size());
  for (std::string& line : lines) line = std::string(strip(line));
  return lines;
}

std::vector<double> numbers_of(const MetricFile& file) {
  std::vector<double> numbers;
  for (const std::string& line : trimmed_lines(file)) numbers.push_back(number_of(line, place(file, numbers.size())));
  return numbers;
}

std::vector<std::vector<double>> number_lists_of(const MetricFile& file) {
  std::vector<std::vector<double>> lists;
  for (const std::string& line : trimmed_lines(file)) {
    std::vector<double> numbers;
    for (const std::string_view word : split_words(line)) numbers.push_back(number_of(word, place(file, lists.size())));
    HEED_CHECK_AS(bad_format, !numbers.empty(), place(file, lists.size()), ": has no numbers");
    lists.push_back(std::move(numbers));
  }
  return lists;
}

std::vector<std::vector<std::string>> tags_of(const MetricFile& file, const std::string& format) {
  std::vector<std::vector<std::string>> sentences;
  const bool columns = has_columns(file, format);
  bool inside = false;
  for (const std::string& line : trimmed_lines(file)) {
    const std::vector<std::string_view> words = split_words(line);
    if (!columns) {
      sentences.push_back(copied(words));
    } else if (words.empty() || words[0] == "-DOCSTART-") {
      inside = false;
    } else {
      if (!inside) sentences.emplace_back();
      inside = true;
      sentences.back().emplace_back(words.back());
    }
  }
  HEED_CHECK_AS(bad_format, !sentences.empty(), file.name, ": has no tags");
  return sentences;
}

Json json_of(const MetricFile& file) {
  HEED_CHECK_AS(bad_format, !file.text.empty(), file.name, ": is empty");
  return parse_json(file.text, file.name);
}

void check_same_lines(const MetricFile& a, std::size_t lines, const MetricFile& b, std::size_t other_lines,
                      std::string_view what) {
  HEED_CHECK_AS(bad_format, lines == other_lines, a.name, ": has ", lines, " ", what, ", and ", b.name, " ",
                other_lines, "; expected as many");
}

}  // namespace heed

// What files of predictions and right answers hold, for the table of metrics. What is wrong in one is bad_format with
// its name and line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

// A file that has been read; the text outlives it.
struct MetricFile {
  std::string name{};
  std::string_view text{};
};

// The lines, which are UTF-8, without their ends. Of a file .jsonl each is a JSON string, which may have lines itself.
std::vector<std::string> lines_of(const MetricFile& file);
// The same; a line of a file .jsonl may be null.
std::vector<std::optional<std::string>> optional_lines_of(const MetricFile& file);
// The same, less a byte order mark and white space at the ends of lines.
std::vector<std::string> trimmed_lines(const MetricFile& file);

// A number in each line.
std::vector<double> numbers_of(const MetricFile& file);
// Numbers between spaces.
std::vector<std::vector<double>> number_lists_of(const MetricFile& file);

// Tags of sentences: of a file .conll or .bio the last columns of lines, sentences between blank ones; else a sentence
// per line. `format` is "conll", "lines" or "", by the name of the file.
std::vector<std::vector<std::string>> tags_of(const MetricFile& file, const std::string& format);

Json json_of(const MetricFile& file);

// That the files have as many lines, and some. Throws bad_format with both names and both counts.
void check_same_lines(const MetricFile& a, std::size_t lines, const MetricFile& b, std::size_t other_lines,
                      std::string_view what = "lines");

}  // namespace heed

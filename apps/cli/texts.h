// What verbs that run a model over texts share: the options --model, TEXT, --input, --output and --threads, reading
// lines, the progress bar, one JSON a line out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/engine/load.h"

namespace CLI {
class App;
}

namespace heed::cli {

// A text of the command line, or a line of a file.
struct InputLine {
  std::string text;     // the line as it is
  Json fields{};        // of a file of JSON lines; else null
  std::string where{};  // file:line, for errors

  // fields[name]; of a plain line the line itself.
  std::string text_of(const std::string& name) const;
  // fields[name] and fields[more], where more is a list (or a text by itself); of a plain line what stands before the
  // first tab and, a list, what stands between those behind it.
  std::pair<std::string, std::vector<std::string>> group_of(const std::string& name, const std::string& more) const;
};

// Each line of the file, or of standard input for "-". A file whose first line is an object is one of JSON lines. Lines
// must be UTF-8.
void for_each_line(const std::string& path, const std::function<void(InputLine)>& use);

struct TextOptions {
  std::string model, input, output;
  std::vector<std::string> texts;
  int threads = 0;  // 0: what the machine has
};

// Adds the options to a verb. `lines` says what a line of the input is.
void add_text_options(CLI::App& verb, TextOptions& options, const std::string& texts, const std::string& lines);

// Answers lines with as many lines of JSON.
using AnswerLines = std::function<std::vector<std::string>(const TextPipeline& model, const std::vector<InputLine>&)>;
// Loads the model and runs what was given on the command line, or else the input in portions. The output file appears
// when all is done.
void run_texts(const TextOptions& options, const std::vector<InputLine>& given, const AnswerLines& answer);
// The texts of the command line, a line each.
std::vector<InputLine> given_texts(const TextOptions& options);
// One line with these fields.
std::vector<InputLine> given_group(Json fields);

std::string json_line(const Json& value);
// The text of each line, by text_of.
std::vector<std::string> texts_of(const std::vector<InputLine>& lines, const std::string& name);
// One line of JSON for each result, by its to_json.
template <class Results>
std::vector<std::string> json_lines(const Results& results) {
  std::vector<std::string> lines;
  for (const auto& result : results) lines.push_back(json_line(to_json(result)));
  return lines;
}

}  // namespace heed::cli

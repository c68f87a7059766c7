// What verbs that run a model over texts share: the options --model, TEXT, --input, --output and --threads, reading
// lines, the progress bar, one line out for each in.
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

// Answers lines with as many lines.
using AnswerLines = std::function<std::vector<std::string>(const std::vector<InputLine>&)>;
// Answers what was given on the command line, or else the input in portions. The output file appears when all is done.
void run_texts(const TextOptions& options, const std::vector<InputLine>& given, const AnswerLines& answer);

}  // namespace heed::cli

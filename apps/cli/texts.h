// What verbs that run a model over texts share: the options --model, TEXT, --input, --output and --threads, answers as
// soon as their texts are there, progress, and notes on what was left out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data_options.h"
#include "heed/engine/load.h"
#include "heed/tasks/run_task.h"
#include "input_rows.h"

namespace CLI {
class App;
}

namespace heed::cli {

struct InputOptions {
  std::vector<std::string> files{};
  std::string format{};
  TableOptions table{};
  std::vector<InputField> fields{};  // of what the verb asks
  bool keeps_blank = false;          // lines that are blank are answered too

  InputFormat input_format() const;
};

struct TextOptions {
  std::string model, output;
  InputOptions input;
  std::vector<std::string> texts;
  int threads = 0;  // 0: what the machine has
};

// What --pair is besides where it gives the second text of plain lines itself.
inline constexpr const char* kPairColumnHelp = "; of JSON lines, CSV and TSV the column or field of it";

// --input, --format, those of tables, and the flags of the fields, --text and --pair. `lines` says what a plain line
// is.
void add_input_options(CLI::App& verb, InputOptions& options, const std::string& lines);
// These and the rest of TextOptions.
void add_text_options(CLI::App& verb, TextOptions& options, const std::string& texts, const std::string& lines);

// Each row of the files, one after the other; says at the end how many blank lines were skipped.
void for_each_line(const InputOptions& options, const std::function<void(const InputLine&)>& use);

// An answer to a row. What else the row has, such as an id, is carried along: then the line is
// {"id": ..., "result": the answer}.
std::string answer_line(const InputLine& line, const std::string& answer);

// A note for each text of the command line that is the name of a file with texts: the name is answered, not the rows.
void note_file_names(const std::vector<std::string>& texts);

using TextAnswers =
    std::function<std::vector<std::unique_ptr<Finding>>(const std::vector<InputLine>&, const StopToken&, CutRows&)>;
// Answers what was given on the command line, or else the input in portions. The output file appears when all is done;
// one that ends in .npy gets the vectors.
void run_texts(const TextOptions& options, const std::vector<InputLine>& given, const TextAnswers& answers);

}  // namespace heed::cli

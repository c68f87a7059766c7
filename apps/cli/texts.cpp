#include "texts.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "answer_file.h"
#include "command_tree.h"
#include "heed/base/error.h"
#include "heed/base/grouped.h"
#include "heed/base/join.h"
#include "model_options.h"
#include "notes.h"
#include "progress.h"
#include "stop_on_signal.h"

namespace heed::cli {
namespace {

// Enough for full batches of similar lengths, few enough for the bar to move.
constexpr std::size_t kPortion = 512;

void note_blank_lines(std::size_t count) {
  if (count > 0) note(fmt::format("{} blank line{} skipped", grouped(count), count == 1 ? " was" : "s were"));
}

// Answers on a terminal and a bar on the same one would run into each other.
bool wants_progress(const AnswerFile& output) {
  return !(output.is_standard_output() && isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0);
}

class TextRun {
 public:
  TextRun(const TextOptions& options, const TextAnswers& answers)
      : options_(options), answers_(answers), output_(options.output) {}

  void run(const std::vector<InputLine>& given) {
    if (options_.input.files.empty()) {
      portion_ = given;
      answer_portion();
    }
    for (const std::string& file : options_.input.files) answer_file(file);
    output_.commit();
    note_blank_lines(blank_);
    if (cut_.count > 0) {
      note(fmt::format("{} of {} texts {} cut at {} tokens", grouped(cut_.count), grouped(answered_),
                       cut_.count == 1 ? "was" : "were", cut_.tokens));
    }
  }

 private:
  void answer_file(const std::string& file) {
    const auto rows = open_input(file, options_.input.input_format(), stop_.token());
    std::optional<ShareProgress> progress;
    if (rows->share() >= 0 && wants_progress(output_)) progress.emplace(file + " ");
    const auto answer = [&] {
      answer_portion();
      if (progress) progress->show(rows->share());
    };
    for (InputLine line;;) {
      if (portion_.size() == kPortion || (!portion_.empty() && !rows->ready())) answer();
      if (!rows->next(line)) break;
      portion_.push_back(std::move(line));
    }
    answer();
    blank_ += rows->blank_lines();
  }

  void answer_portion() {
    if (portion_.empty()) return;
    const auto findings = answers_(portion_, stop_.token(), cut_);
    std::string text;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (output_.takes_vectors()) {
        add_vector(*findings[i]);
      } else {
        text += answer_line(portion_[i], findings[i]->line()) + "\n";
      }
    }
    if (!output_.takes_vectors()) output_.write(text);
    answered_ += portion_.size();
    portion_.clear();
  }

  void add_vector(const Finding& finding) {
    HEED_CHECK(!finding.vector().empty(), options_.output,
               ": only vectors, as heed embed gives them, can be written as .npy; name the file .jsonl");
    output_.vectors().add_row(finding.vector());
  }

  const TextOptions& options_;
  const TextAnswers& answers_;
  StopOnSignal stop_;
  AnswerFile output_;
  std::vector<InputLine> portion_;
  std::size_t answered_ = 0, blank_ = 0;
  CutRows cut_;
};

}  // namespace

InputFormat InputOptions::input_format() const {
  return {.name = format,
          .separator = table.separator_character(),
          .header = !table.no_header,
          .fields = fields,
          .keeps_blank = keeps_blank};
}

void add_input_options(CLI::App& verb, InputOptions& options, const std::string& lines) {
  const auto names = join(options.fields, ", ", [](const InputField& field) {
    return "\"" + field.name + (field.optional ? "\" (optional)" : "\"");
  });
  CLI::Option* input =
      verb.add_option("--input", options.files,
                      "file to read, - for standard input: " + lines + " per line, or JSON lines, CSV or TSV with " +
                          names + "; may be given several times, and may be gzipped");
  input->allow_extra_args(false);
  verb.add_option("--format", options.format,
                  "format of the input; default: by the extension, else JSON lines if it begins with {, else lines")
      ->check(one_of({"lines", "jsonl", "csv", "tsv"}));
  for (InputField& field : options.fields) {
    for (const Column& column : kColumns) {
      if (field.flag == "--" + std::string(column.name)) add_column(verb, column, field.column)->needs(input);
    }
  }
  for (CLI::Option* option : add_table_options(verb, options.table)) option->needs(input);
}

void add_text_options(CLI::App& verb, TextOptions& options, const std::string& texts, const std::string& lines) {
  add_model_option(verb, options.model);
  CLI::Option* given = verb.add_option("TEXT", options.texts, texts);
  add_input_options(verb, options.input, lines);
  verb.get_option("--input")->excludes(given);
  verb.add_option("--output", options.output,
                  "file for the answers instead of standard output; vectors also as NumPy's .npy");
  add_threads_option(verb, options.threads);
}

void for_each_line(const InputOptions& options, const std::function<void(const InputLine&)>& use) {
  std::size_t blank = 0;
  for (const std::string& file : options.files) {
    const auto rows = open_input(file, options.input_format());
    for (InputLine line;;) {
      if (!rows->ready()) flush_standard_output();
      if (!rows->next(line)) break;
      use(line);
    }
    blank += rows->blank_lines();
  }
  note_blank_lines(blank);
}

std::string answer_line(const InputLine& line, const std::string& answer) {
  constexpr const char* kResult = "result";
  if (line.carried.empty()) return answer;
  HEED_CHECK_AS(bad_format, !line.carried.contains(kResult), line.where, ": has a field \"", kResult,
                "\", where the answer is to be; give it another name");
  std::string text = line.carried.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();
  return text + ",\"" + kResult + "\":" + answer + "}";
}

void note_file_names(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (names_input(text)) note(text + " is a file, and its name is taken as the text; for its rows: --input " + text);
  }
}

void run_texts(const TextOptions& options, const std::vector<InputLine>& given, const TextAnswers& answers) {
  note_file_names(options.texts);
  TextRun(options, answers).run(given);
}

}  // namespace heed::cli

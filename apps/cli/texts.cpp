#include "texts.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "progress.h"

namespace heed::cli {
namespace {

// Enough for full batches of like lengths, few enough for the bar to move.
constexpr std::size_t kPortion = 512;

// Standard output, or a file that is put in place when everything is written.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    if (file_) {
      file_->write(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }
  void finish() {
    if (file_) file_->commit();
    HEED_CHECK_AS(io, std::fflush(stdout) == 0, "standard output: cannot be written");
  }

 private:
  std::optional<AtomicFile> file_;
};

void run_file(const TextOptions& options, const AnswerLines& answer, Output& output) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(options.input, unknown);
  std::optional<ShareProgress> progress;
  if (!unknown && bytes > 0) progress.emplace(options.input + " ");
  std::vector<InputLine> portion;
  std::size_t done = 0;
  const auto flush = [&] {
    if (portion.empty()) return;
    output.write(answer(portion));
    portion.clear();
    if (progress) progress->show(std::min(1.0, static_cast<double>(done) / static_cast<double>(bytes)));
  };
  for_each_line(options.input, [&](InputLine line) {
    done += line.text.size() + 1;
    portion.push_back(std::move(line));
    if (portion.size() == kPortion) flush();
  });
  flush();
}

}  // namespace

std::string InputLine::text_of(const std::string& name) const {
  return fields.is_null() ? text : json_required<std::string>(fields, name, where);
}

void for_each_line(const std::string& path, const std::function<void(InputLine)>& use) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    HEED_CHECK_AS(not_found, file, path, ": cannot be opened");
  }
  std::istream& lines = path == "-" ? std::cin : file;
  std::int64_t number = 0;
  bool json = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::string where = path + ":" + std::to_string(++number);
    const auto invalid = utf8_find_invalid(line);
    HEED_CHECK_AS(bad_format, !invalid, where, ": byte ", *invalid, " of the line is not UTF-8");
    if (number == 1) json = line.starts_with('{') && line.ends_with('}');
    use({line, json ? parse_json(line, where) : Json(), where});
  }
  HEED_CHECK_AS(io, !lines.bad(), path, ": cannot be read");
}

void add_text_options(CLI::App& verb, TextOptions& options, const std::string& texts, const std::string& lines) {
  verb.add_option("--model", options.model, "folder of a HuggingFace model")->required();
  CLI::Option* given = verb.add_option("TEXT", options.texts, texts);
  verb.add_option("--input", options.input, "file instead: " + lines + "; - for standard input")->excludes(given);
  verb.add_option("--output", options.output, "file for the answers instead of standard output");
  verb.add_option("--threads", options.threads, "default: what this machine has")->check(CLI::Range(1, 1024));
}

void run_texts(const TextOptions& options, const std::vector<InputLine>& given, const AnswerLines& answer) {
  Output output(options.output);
  if (options.input.empty()) {
    output.write(answer(given));
  } else {
    run_file(options, answer, output);
  }
  output.finish();
}

}  // namespace heed::cli

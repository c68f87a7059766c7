// docs/tasks.md is made from the table of tasks: run with HEED_WRITE_DOCS=1 to write it again. The pages about training
// and metrics have a row for every task that is trained, and for no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>

#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/tasks/registry.h"
#include "support/shared_data.h"

namespace heed {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

std::filesystem::path docs() {
  return test::tests_folder().parent_path() / "docs";
}

std::string code(const std::string& text) {
  return "`" + text + "`";
}

// As the cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|<", at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string flag(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::string flags_of(const OptionInfo& option) {
  std::string flags = code(flag(option.name));
  if (option.flag) flags += ", " + code(flag("no-" + option.name));
  if (!option.short_flag.empty()) flags += ", " + code(flag(option.short_flag));
  return flags;
}

std::string uses_of(const OptionInfo& option) {
  std::vector<std::string> uses;
  if (option.uses & kForPredict) uses.emplace_back("asking");
  if (option.uses & kForTrain) uses.emplace_back("training");
  if (option.uses & kForEvaluate) uses.emplace_back("scoring");
  return join(uses, ", ");
}

std::string default_of(const OptionInfo& option) {
  const bool nothing =
      option.value.is_null() || option.value == "" || (option.value.is_array() && option.value.empty());
  return nothing ? "" : code(option.value.is_string() ? option.value.get<std::string>() : option.value.dump());
}

std::string help_of(const OptionInfo& option) {
  std::vector<std::string> words = option.words;
  std::erase(words, "");
  const bool said = words.empty() || option.help.find(words.back()) != std::string::npos;
  return cell(option.help) + (said ? "" : " (" + join(words, ", ") + ")");
}

std::string request_table(const Task& task) {
  std::string table = "| field of a request | on the command line | what it is |\n| --- | --- | --- |\n";
  for (const RequestField& field : task.request) {
    const bool last = &field == &task.request.back();
    const bool by_json_alone = field.is_list() && field.optional;
    const std::string place = last || field.first_text ? (field.first_text ? "the first text" : "the texts")
                              : by_json_alone          ? "`--input` alone"
                              : field.flag.empty()     ? code(flag(field.name))
                                                       : code(field.flag);
    table += "| " + code(field.name) + " | " + place + " | " + cell(field.help) +
             (field.optional ? " (optional)" : "") + " |\n";
  }
  return table;
}

std::string option_table(const Task& task) {
  const auto options = task.options.list();
  if (options.empty()) return "";
  std::string table = std::string("\n| option | flag | default |") + (task.trains() ? " for |" : "") +
                      " what it is |\n| --- | --- | --- |" + (task.trains() ? " --- |" : "") + " --- |\n";
  for (const OptionInfo& option : options) {
    table += "| " + code(option.name) + " | " + (option.uses & ~kForTrain ? flags_of(option) : "") + " | " +
             cell(default_of(option)) + (task.trains() ? " | " + uses_of(option) : "") + " | " + help_of(option) +
             " |\n";
  }
  return table;
}

std::string section(const Task& task) {
  std::string text = "\n## " + task.name + "\n\n    " + task.example + "\n\n";
  std::string summary = task.summary;
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  // The shape of the answer: [{"label", "score"}, ...]
  const std::size_t shape = summary.find_first_of("[{"), end = summary.find_last_of("]}");
  if (shape != std::string::npos) {
    summary = summary.substr(0, shape) + code(summary.substr(shape, end + 1 - shape)) + summary.substr(end + 1);
  }
  text += summary + ".\n\n" + request_table(task) + option_table(task);
  if (task.trains()) {
    const auto name_of = [](RowField field) { return std::string(kRowFields[static_cast<std::size_t>(field)]); };
    text += "\nTrained by `heed train --init " + task.name + "` on rows with " + join(task.rows, ", ", name_of) +
            ", and scored by `heed eval`.\n";
  }
  return text;
}

std::string tasks_page() {
  std::string page =
      "# Tasks\n\n"
      "What can be asked of a model. A request has fields: they are those of JSON lines and columns of `--input`, and "
      "of\n"
      "the JSON that `heed::ask()` takes. Options are flags of the command line, fields beside those of a request, "
      "and, for\n"
      "training, fields of the config (`classify.label_smoothing`); their default may come from the model's folder.\n\n"
      "This page is made from the table of tasks (`src/heed/tasks/registry.cpp`) by `tests/tasks/docs_test.cpp`.\n\n"
      "| task | verb | what it does | trained |\n| --- | --- | --- | --- |\n";
  for (const Task* task : tasks()) {
    page += "| [" + task->name + "](#" + task->name + ") | `heed " + task->verb + "` | " +
            cell(task->summary.substr(0, task->summary.find_first_of(":;"))) + " | " + (task->trains() ? "yes" : "") +
            " |\n";
  }
  for (const Task* task : tasks()) page += section(*task);
  return page;
}

// The first cells of the tables of a page, without code marks.
std::set<std::string> first_cells(const std::string& page, const std::string& heading) {
  std::set<std::string> cells;
  std::istringstream lines(read_file(docs() / page, kMostBytes));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(heading)) inside = true;
    if (line.empty()) inside = false;
    if (!inside || line.starts_with(heading) || line.starts_with("| ---")) continue;
    std::string first = line.substr(2, line.find(" |", 2) - 2);
    std::erase(first, '`');
    cells.insert(first);
  }
  return cells;
}

TEST(TaskDocs, ThePageIsTheTable) {
  const std::filesystem::path file = docs() / "tasks.md";
  if (std::getenv("HEED_WRITE_DOCS")) replace_file(file, tasks_page());
  EXPECT_EQ(read_file(file, kMostBytes), tasks_page()) << "HEED_WRITE_DOCS=1 writes the page again";
}

TEST(TaskDocs, EveryTaskHasAnExample) {
  for (const Task* task : tasks()) {
    std::string name = task->verb;
    std::ranges::replace(name, '-', '_');
    EXPECT_TRUE(std::filesystem::exists(docs().parent_path() / "examples" / name / "main.cpp")) << name;
  }
}

TEST(TaskDocs, EveryTrainedTaskIsInTheTables) {
  std::set<std::string> trained;
  for (const Task* task : tasks()) {
    if (task->trains()) trained.insert(task->name);
  }
  EXPECT_EQ(first_cells("training.md", "| `task` |"), trained);
  EXPECT_EQ(first_cells("metrics.md", "| task |"), trained);
}

TEST(TaskDocs, MetricsOfLossesAreBetterTheLower) {
  std::set<std::string> lower;
  for (const Task* task : tasks()) {
    for (const char* metric : {"loss", "perplexity", "bits_per_character", "accuracy", "spearman", "f1"}) {
      if (task->trains() && !task->higher_is_better(metric)) lower.insert(task->name + " " + metric);
    }
  }
  EXPECT_EQ(lower,
            (std::set<std::string>{"answer loss", "classify loss", "embed loss", "tag loss", "translate loss",
                                   "lm loss", "lm perplexity", "lm bits_per_character", "mlm loss", "mlm perplexity"}));
}

// The header of a task is in the front door, and is installed.
TEST(TaskDocs, EveryTaskIsInTheFrontDoor) {
  const auto project = docs().parent_path();
  const std::string door = read_file(project / "src" / "heed" / "heed.h", kMostBytes),
                    installed = read_file(project / "cmake" / "Install.cmake", kMostBytes);
  std::size_t headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(project / "src" / "heed" / "tasks")) {
    const bool is_header = entry.path().extension() == ".h";
    if (!is_header || read_file(entry.path(), kMostBytes).find("_task();") == std::string::npos) continue;
    const std::string name = "tasks/" + entry.path().filename().string();
    EXPECT_NE(door.find("#include \"heed/" + name + "\""), std::string::npos) << "src/heed/heed.h has no " << name;
    EXPECT_NE(installed.find(" " + name), std::string::npos) << "cmake/Install.cmake has no " << name;
    ++headers;
  }
  EXPECT_EQ(headers, tasks().size());
}

}  // namespace
}  // namespace heed

// One row of a data file, whatever the file's format. readers.h fills it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct AnswerSpan {
  std::string text;
  std::size_t start = 0;  // characters (code points) of the context
  // The start of an answer that is not in the context as it stands. Such answers count in evaluation only; they come
  // after those that have a place, of which there is at least one.
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
};

// Which fields are set depends on what the task asked for (DataSource::needs) and on what the file has.
struct Row {
  std::string text{};                          // the text, the first of a pair, or the question
  std::optional<std::string> pair{};           // the second text, or the context of the question
  std::vector<std::string> texts{};            // further texts: candidates to rank, sentences to compare
  std::vector<std::string> words{};            // of a tagged sentence
  std::vector<std::string> labels{};           // of the row: any number; of a tagged sentence: one per word
  std::vector<std::size_t> label_lines{};      // of a tagged sentence in a file with a line per word: where each is
  std::optional<double> score{};               // regression, similarity
  std::vector<double> numbers{};               // a series
  std::vector<AnswerSpan> answers{};           // none: the context does not answer the question
  std::vector<std::filesystem::path> files{};  // images, sound; relative names begin at the data file's folder
  // A conversation: a JSON list of {"role", "content"}, or {"messages": that list, "tools": a list}.
  std::string messages{};
  std::vector<std::string> items{};  // item ids: the history of a recommender's user
  std::string id{};                  // of a question, else ""
  bool continues = false;            // a piece of a text that goes on in the next row
  std::string file{};
  std::size_t line = 0;  // where the row begins, from 1; of SQuAD files the number of the question

  // "file:line", for messages; of a label that has a line of its own, that one.
  std::string place() const { return file + ":" + std::to_string(line); }
  std::string place_of_label(std::size_t i) const {
    return i < label_lines.size() ? file + ":" + std::to_string(label_lines[i]) : place();
  }
};

// The fields that a task can ask for, and their names in messages and on the command line.
enum class RowField { text, pair, texts, words, labels, score, numbers, answers, files, items, messages };
inline constexpr std::string_view kRowFields[] = {"text",    "pair",    "texts", "words", "labels",  "score",
                                                  "numbers", "answers", "files", "items", "messages"};
using RowFields = std::set<RowField>;

}  // namespace heed

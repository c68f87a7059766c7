// One row of a data file, whatever the file's format. readers.h fills it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct AnswerSpan {
  std::string text;
  std::size_t start = 0;  // characters (code points) of the context
  // The start of an answer that is not in the context as it stands. Such answers count in evaluation only; they come
  // behind those that have a place, of which there is one at least.
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
};

// Which fields are set depends on what a row is (RowKind).
struct Example {
  std::string text{};                 // the text, the first of a pair, or the question
  std::optional<std::string> pair{};  // the second text, or the context of the question
  std::vector<std::string> words{};   // of a tagged sentence
  std::vector<std::string> labels{};  // of the text: none, one or several; of a tagged sentence: one a word
  std::optional<double> score{};      // regression, similarity
  std::vector<AnswerSpan> answers{};  // none: the context does not answer the question
  std::string id{};                   // of a question, else ""
  std::string file{};
  std::size_t line = 0;  // where the row begins, from 1; of SQuAD files the number of the question
};

}  // namespace heed

// heed answer: the words of a context that answer a question.
#include <CLI/CLI.hpp>
#include <memory>

#include "heed/base/error.h"
#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// With --question plain lines are contexts, else a question, a tab and a context.
Question question_of(const InputLine& line, const std::string& question) {
  if (line.fields.is_null() && !question.empty()) return {question, line.text};
  const auto [asked, contexts] = line.group_of("question", "context");
  HEED_CHECK_AS(bad_format, contexts.size() == 1, line.where, ": has ", contexts.size(), " contexts, expected one");
  return {asked, contexts[0]};
}

}  // namespace

void add_answer(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "answer", "the words of a text that answer a question: {\"answer\", \"score\", \"start\", \"end\"} a line");
  struct Options : TextOptions {
    std::string question;
    AnswerOptions answer;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "texts to look for the answer in",
                   "one text a line (without --question: question, tab, text), or JSON lines with \"question\" and "
                   "\"context\"");
  verb->add_option("--question", options->question, "the question");
  AnswerOptions& answer = options->answer;
  verb->add_option("--top-k", answer.top_k, "a list of so many answers")->check(CLI::PositiveNumber);
  verb->add_flag("--null", answer.null_answer, "\"\" may be the answer");
  verb->add_option("--null-threshold", answer.null_threshold,
                   "how far, in logarithms, its score must be above that of the best words");
  verb->add_option("--max-answer-tokens", answer.max_answer_tokens)->capture_default_str()->check(CLI::PositiveNumber);
  verb->add_option("--stride", answer.stride, "tokens that the windows over a long text share")->capture_default_str();
  verb->footer("heed answer --model bert-squad --question \"Where does she live?\" \"Clara lives in Berkeley.\"");
  verb->callback([options, &result] {
    if (!options->texts.empty() && options->question.empty()) throw CLI::RequiredError("--question");
    run_texts(*options, given_texts(*options), [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      std::vector<Question> questions;
      for (const InputLine& line : lines) questions.push_back(question_of(line, options->question));
      return json_lines(model.answer(questions, options->answer));
    });
    result = 0;
  });
}

}  // namespace heed::cli

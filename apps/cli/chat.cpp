// heed chat: a conversation in the terminal. Ctrl-C ends the answer or clears the line, Ctrl-D ends the conversation.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "answer_file.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/run_task.h"
#include "line_editor.h"
#include "notes.h"
#include "option_flags.h"
#include "stop_on_signal.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options {
  std::string model, system;
  int threads = 0;
  bool colors = false;
  Json task = Json::object();
};

constexpr const char* kHelp =
    "Write a message and press Enter. /clear begins anew, /retry answers again, /help shows this, /quit ends.";

// With editing and a history in a terminal; else a line of standard input.
std::optional<std::string> read_message() {
  if (isatty(STDIN_FILENO) != 0) return edit_line("> ");
  std::string line;
  return std::getline(std::cin, line) ? std::optional(line) : std::nullopt;
}

// From red for what the model hardly believed itself to the terminal's own colour.
std::string colored(std::string_view text, double log_probability) {
  constexpr int kColors[] = {196, 202, 208, 214, 220, 226};
  const double probability = std::exp(log_probability);
  if (probability >= 0.6) return std::string(text);
  return fmt::format("\033[38;5;{}m{}\033[0m", kColors[static_cast<int>(probability * 10)], text);
}

class Conversation {
 public:
  explicit Conversation(const Options& options)
      : options_(options), model_(load(options.model)), task_(make_task(model_, generate_task(), options.task)) {
    clear();
  }

  void clear() {
    messages_ = Json::array();
    if (!options_.system.empty()) messages_.push_back({{"role", "system"}, {"content", options_.system}});
  }
  void say(const std::string& text) {
    messages_.push_back({{"role", "user"}, {"content", text}});
    answer();
  }
  // With the next seed: the same one would give the same answer again, sampled or not.
  void retry() {
    if (messages_.empty() || messages_.back()["role"] != "assistant") return note("There is no answer to try again.");
    messages_.erase(messages_.size() - 1);
    Json options = options_.task;
    options["seed"] = options.value("seed", std::int64_t{0}) + ++retries_;
    task_ = make_task(model_, generate_task(), options);
    answer();
  }

 private:
  void answer() {
    AnswerFile out("");
    std::string text;
    const StopOnSignal signals;
    const TaskCall call{
        .stop = signals.token(), .on_text = [&](const TextPiece& piece) {
          text += piece.text;
          out.write(options_.colors ? colored(piece.text, piece.log_probability) : std::string(piece.text));
        }};
    try {
      static_cast<void>(task_->run(model_, {Row{.messages = messages_.dump(), .file = "the conversation"}}, call));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::cancelled) {
        messages_.erase(messages_.size() - 1);  // the message that could not be answered
        throw;
      }
    }
    out.write("\n");
    messages_.push_back({{"role", "assistant"}, {"content", text}});
  }

  const Options& options_;
  LoadedModel model_;
  std::unique_ptr<TaskRun> task_;
  Json messages_;
  std::int64_t retries_ = 0;
};

int run(const Options& options) {
  std::optional<ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  Conversation conversation(options);
  if (isatty(STDIN_FILENO) != 0) note(kHelp);
  while (const auto message = read_message()) {
    if (message->empty()) continue;
    if (*message == "/quit") break;
    if (*message == "/help") {
      note(kHelp);
    } else if (*message == "/clear") {
      conversation.clear();
    } else {
      try {
        if (*message == "/retry") {
          conversation.retry();
        } else {
          conversation.say(*message);
        }
      } catch (const Error& error) {
        // A message that is too long, or that the template refuses, is not the end for who can write another one.
        const bool of_message = error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::bad_format;
        if (!of_message || isatty(STDIN_FILENO) == 0) throw;
        note(error.what());
      }
    }
  }
  return 0;
}

}  // namespace

void add_chat(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("chat", "talk with a model that has a chat template");
  const auto options = std::make_shared<Options>();
  verb->add_option("--model", options->model, "folder of a HuggingFace model, or owner/name of one that was pulled")
      ->required();
  verb->add_option("--system", options->system, "system message: what the model should be or do");
  verb->add_flag("--colors", options->colors, "color words by how sure the model was");
  verb->add_option("--threads", options->threads, "threads to compute with; default: as many as this machine has");
  add_option_flags(*verb, generate_task().options.list(), kForPredict, options->task);
  verb->footer("heed chat --model Qwen/Qwen3-0.6B --do-sample --temperature 0.7");
  verb->callback([options, &result] { result = run(*options); });
}

}  // namespace heed::cli

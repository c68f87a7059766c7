// heed: one command, a table of verbs. Errors of the library become exit codes here and nowhere else.
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include "answer_file.h"
#include "command_tree.h"
#include "heed/base/error.h"
#include "heed/kernels/target.h"
#include "heed/version.h"
#include "notes.h"
#include "verbs.h"

namespace heed::cli {
namespace {

using AddVerb = void (*)(CLI::App& app, int& result);
constexpr AddVerb kVerbs[] = {add_demo,     add_train,      add_eval,      add_metrics, add_data, add_chat,
                              add_pull,     add_info,       add_verify,    add_tasks,   add_look, add_why_similar,
                              add_tokenize, add_detokenize, add_tokenizer, add_lab,     add_cpu};

// As CLI11 and most tools have it.
constexpr int kWrongCommandLine = 2;

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return 3;
    case ErrorKind::not_found: return 4;
    case ErrorKind::bad_format: return 5;
    case ErrorKind::io: return 6;
    case ErrorKind::overloaded: return 7;
    case ErrorKind::cancelled: return 8;
    case ErrorKind::internal: return 9;
  }
  return 9;
}

// Every verb that does something can do it without a word.
void add_quiet(CLI::App& app) {
  const auto verbs = app.get_subcommands([](CLI::App*) { return true; });
  for (CLI::App* verb : verbs) add_quiet(*verb);
  if (!verbs.empty()) return;
  app.add_flag_function(
      "--quiet", [](std::int64_t) { set_quiet(true); }, "print no progress and no notes on standard error");
}

int run(int argc, char** argv) {
  kernels::set_target_by_environment();
  CLI::App app("heed: self-attention models on ordinary CPUs, natively", "heed");
  app.require_subcommand(1);
  app.set_version_flag("--version", HEED_VERSION);
  int result = 0;
  for (AddVerb add : kVerbs) add(app, result);
  // After the verbs, which would inherit it.
  app.footer(
      "Start with:  heed demo\n"
      "Then:        heed pull sentence-transformers/all-MiniLM-L6-v2\n"
      "             heed embed --model sentence-transformers/all-MiniLM-L6-v2 \"a text\"\n"
      "Help:        heed help VERB");
  add_quiet(app);
  for (AddVerb add : {add_help, add_completion, add_man}) add(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    fmt::print(stderr, "{}", argc == 1 ? app.help() : "heed: " + explained(app, error) + "\n");
    return kWrongCommandLine;
  }
  return result;
}

void report(ErrorKind kind, const char* what) {
  // Who stopped it need not be told where it was.
  const std::string why = kind == ErrorKind::cancelled ? "" : fmt::format(": {}", what);
  fmt::print(stderr, "heed: {}{}\n", to_string(kind), why);
}

// Errors become messages and exit codes.
template <class Action>
int guarded(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    report(error.kind(), error.what());
    return exit_code(error.kind());
  } catch (const std::filesystem::filesystem_error& error) {
    report(ErrorKind::io, error.what());
    return exit_code(ErrorKind::io);
  } catch (const std::exception& error) {
    // Printing throws if standard output takes no more; that is said once, at the end.
    if (std::ferror(stdout) == 0) report(ErrorKind::internal, error.what());
    return exit_code(ErrorKind::internal);
  }
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  using namespace heed::cli;
  int code = guarded([&] { return run(argc, argv); });
  if (code == exit_code(heed::ErrorKind::io)) return code;  // perhaps this very error, said already
  // Whatever a verb printed counts only if it arrived.
  const int flushed = guarded([] {
    flush_standard_output();
    return 0;
  });
  return flushed == 0 ? code : flushed;
}

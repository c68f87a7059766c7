// heed: one command, a table of verbs. Errors of the library become exit codes here and nowhere else.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "heed/base/error.h"
#include "verbs.h"

namespace heed::cli {
namespace {

using AddVerb = void (*)(CLI::App& app, int& result);
constexpr AddVerb kVerbs[] = {add_demo,     add_train,      add_eval,      add_data, add_pull,
                              add_info,     add_verify,     add_tasks,     add_look, add_why_similar,
                              add_tokenize, add_detokenize, add_tokenizer, add_lab,  add_cpu};

// 2 is for the command line itself, as CLI11 and most tools have it.
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

int run(int argc, char** argv) {
  CLI::App app("heed: self-attention models on ordinary CPUs, natively", "heed");
  app.require_subcommand(1);
  app.set_version_flag("--version", HEED_VERSION);
  app.footer(
      "Start with:  heed demo\n"
      "Then:        heed embed --model \"$(heed pull sentence-transformers/all-MiniLM-L6-v2)\" \"a text\"");
  int result = 0;
  for (AddVerb add : kVerbs) add(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return result;
}

}  // namespace
}  // namespace heed::cli

int main(int argc, char** argv) {
  try {
    return heed::cli::run(argc, argv);
  } catch (const heed::Error& error) {
    fmt::print(stderr, "heed: {}: {}\n", heed::to_string(error.kind()), error.what());
    return heed::cli::exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "heed: internal: {}\n", error.what());
    return heed::cli::exit_code(heed::ErrorKind::internal);
  }
}

#include "line_editor.h"

#include <editline/readline.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>

namespace heed::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interrupt(int) {
  interrupted = 1;
}

// While it lives Ctrl-C is noted, and ends a read().
class NoteInterrupt {
 public:
  NoteInterrupt() {
    interrupted = 0;
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    sigaction(SIGINT, &action, &before_);
  }
  ~NoteInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  NoteInterrupt(const NoteInterrupt&) = delete;
  NoteInterrupt& operator=(const NoteInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

// The next character for libedit. Ctrl-C ends the line.
int next_character(FILE*) {
  std::mbstate_t state{};
  while (true) {
    char byte = 0;
    const ssize_t count = interrupted ? -1 : read(STDIN_FILENO, &byte, 1);
    if (interrupted) return '\n';
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return EOF;
    // What a terminal makes of a Ctrl-D that was typed before the line was asked for.
    if (byte == '\0') byte = '\4';
    wchar_t character = 0;
    const std::size_t length = std::mbrtowc(&character, &byte, 1, &state);
    if (length == static_cast<std::size_t>(-1)) {
      state = {};  // not UTF-8: it is left out
    } else if (length != static_cast<std::size_t>(-2)) {
      return static_cast<int>(character);
    }
  }
}

// Characters are what the locale says, and texts are UTF-8 in any.
void prepare() {
  static const bool done = [] {
    std::setlocale(LC_CTYPE, "");
    if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
    rl_catch_signals = 0;
    rl_getc_function = next_character;
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

std::optional<std::string> edit_line(const char* prompt) {
  prepare();
  const NoteInterrupt note;
  const std::unique_ptr<char, decltype(&std::free)> line(readline(prompt), &std::free);
  if (interrupted) return "";
  if (!line) return {};
  if (*line) add_history(line.get());
  return std::string(line.get());
}

}  // namespace heed::cli

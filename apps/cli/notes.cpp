#include "notes.h"

#include <fmt/core.h>

namespace heed::cli {
namespace {

bool quiet_wanted = false;

}  // namespace

void set_quiet(bool quiet) {
  quiet_wanted = quiet;
}

bool is_quiet() {
  return quiet_wanted;
}

void note(const std::string& text) {
  if (!quiet_wanted) fmt::print(stderr, "heed: {}\n", text);
}

}  // namespace heed::cli

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

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace heed::cli

// heed::Error: the one exception of the library, and HEED_CHECK, which throws it.
//
// Every public door and every byte from a file or the network is checked, in release builds too. The message names
// where (the op in brackets, or the file), what was found and what was expected. The library never prints, exits or
// aborts; the edges (command line, server, Python) map the kind to their own codes.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heed {

enum class ErrorKind { invalid_argument, not_found, bad_format, io, overloaded, cancelled, internal };

// "invalid_argument", "not_found", ...
std::string_view to_string(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Joins the parts with operator<< and throws; Shape and friends print themselves.
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(kind, message.str());
}

}  // namespace heed

// HEED_CHECK(h % k == 0, "[attend] query heads ", h, " are not a multiple of key heads ", k);
// Throws invalid_argument; HEED_CHECK_AS takes another kind. The parts are evaluated only on failure.
#define HEED_CHECK_AS(kind, condition, ...)               \
  do {                                                    \
    if (!(condition)) [[unlikely]]                        \
      ::heed::fail(::heed::ErrorKind::kind, __VA_ARGS__); \
  } while (false)
#define HEED_CHECK(condition, ...) HEED_CHECK_AS(invalid_argument, condition, __VA_ARGS__)

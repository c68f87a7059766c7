#include "heed/base/error.h"

namespace heed {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::bad_format: return "bad_format";
    case ErrorKind::io: return "io";
    case ErrorKind::overloaded: return "overloaded";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

}  // namespace heed

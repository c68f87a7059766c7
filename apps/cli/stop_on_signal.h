// Ctrl-C and SIGTERM as a stop token, for verbs that have something to tidy up.
#pragma once

#include <csignal>

#include "heed/base/stop.h"

namespace heed::cli {

// While it lives the first signal stops the token; a second one ends the program as usual.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  StopToken token() const;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace heed::cli

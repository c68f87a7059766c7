// Ctrl-C and SIGTERM as a stop token of the thread, for verbs that have something to tidy up.
#pragma once

#include <csignal>

#include "heed/base/stop.h"

namespace heed::cli {

// While it lives the first signal stops the token, by which the whole thread stops (StopScope); a second one ends the
// program as usual. One at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  StopToken token() const { return source_.token(); }

 private:
  StopSource source_;
  StopScope scope_;
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace heed::cli

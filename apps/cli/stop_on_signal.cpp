#include "stop_on_signal.h"

namespace heed::cli {
namespace {

const StopSource& source() {
  static const StopSource stop;
  return stop;
}

void request_stop(int) {
  source().request_stop();
}

}  // namespace

StopOnSignal::StopOnSignal() {
  source();  // made now, not in the handler
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

StopToken StopOnSignal::token() const {
  return source().token();
}

}  // namespace heed::cli

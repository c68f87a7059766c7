#include "stop_on_signal.h"

#include <atomic>

namespace heed::cli {
namespace {

std::atomic<const StopSource*> current = nullptr;

void request_stop(int) {
  if (const StopSource* source = current.load()) source->request_stop();
}

}  // namespace

StopOnSignal::StopOnSignal() : scope_(source_.token()) {
  current = &source_;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  current = nullptr;
}

}  // namespace heed::cli

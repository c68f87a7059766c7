#include "progress.h"

#include <fmt/core.h>

#include <unistd.h>
#include <cstdio>
#include <utility>

namespace heed::cli {

Progress::Progress(std::string label, std::int64_t steps, std::int64_t tokens_per_step)
    : label_(std::move(label)),
      steps_(steps),
      tokens_per_step_(tokens_per_step),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && done_ > 0) fmt::print(stderr, "\n");
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step_done(double loss) {
  constexpr double kRenewSeconds = 0.1;
  constexpr std::int64_t kPlainLines = 4, kBar = 24;
  ++done_;
  const double now = seconds();
  const bool due = terminal_ ? now - shown_at_ >= kRenewSeconds || done_ == steps_
                             : done_ * kPlainLines / steps_ != (done_ - 1) * kPlainLines / steps_;
  if (!due) return;
  shown_at_ = now;
  const double share = static_cast<double>(done_) / static_cast<double>(steps_);
  const auto filled = static_cast<std::size_t>(share * kBar);
  fmt::print(stderr, "{}{}[{}{}] step {}/{}  loss {:.4f}  {:.0f} tokens/s  {:.1f} s left{}", terminal_ ? "\r" : "",
             label_, std::string(filled, '#'), std::string(kBar - filled, '.'), done_, steps_, loss,
             static_cast<double>(done_ * tokens_per_step_) / now, now / share - now, terminal_ ? "   " : "\n");
  std::fflush(stderr);
}

}  // namespace heed::cli

#include "progress.h"

#include <fmt/core.h>

#include <unistd.h>
#include <cstdio>
#include <utility>

namespace heed::cli {

Progress::Progress(std::string label, std::int64_t steps, std::int64_t tokens)
    : label_(std::move(label)),
      steps_(steps),
      tokens_(tokens),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && steps_done_ > 0) fmt::print(stderr, "\n");
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step_done(double loss, std::int64_t tokens) {
  constexpr double kRenewSeconds = 0.1;
  constexpr std::int64_t kPlainLines = 4, kBar = 24;
  const std::int64_t line = tokens_done_ * kPlainLines / tokens_;
  ++steps_done_;
  tokens_done_ += tokens;
  const double now = seconds();
  const bool due = terminal_ ? now - shown_at_ >= kRenewSeconds || steps_done_ == steps_
                             : line != tokens_done_ * kPlainLines / tokens_;
  if (!due) return;
  shown_at_ = now;
  const double share = static_cast<double>(tokens_done_) / static_cast<double>(tokens_);
  const auto filled = static_cast<std::size_t>(share * kBar);
  fmt::print(stderr, "{}{}[{}{}] step {}/{}  loss {:.4f}  {:.0f} tokens/s  {:.1f} s left{}", terminal_ ? "\r" : "",
             label_, std::string(filled, '#'), std::string(kBar - filled, '.'), steps_done_, steps_, loss,
             static_cast<double>(tokens_done_) / now, now / share - now, terminal_ ? "   " : "\n");
  std::fflush(stderr);
}

ShareProgress::ShareProgress(std::string label) : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) != 0) {}

ShareProgress::~ShareProgress() {
  if (terminal_ && shown_ >= 0) fmt::print(stderr, "\n");
}

void ShareProgress::show(double share) {
  constexpr std::size_t kBar = 24;
  const double step = terminal_ ? 0.01 : 0.25;
  if (shown_ >= 0 && share - shown_ < step && (share < 1 || shown_ >= 1)) return;
  shown_ = share;
  const auto filled = static_cast<std::size_t>(share * kBar);
  fmt::print(stderr, "{}{}[{}{}] {:3.0f} %{}", terminal_ ? "\r" : "", label_, std::string(filled, '#'),
             std::string(kBar - filled, '.'), share * 100, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace heed::cli

#include "progress.h"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/kernels/machine_probe.h"

namespace heed::cli {
namespace {

std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  return minutes < 100 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace

Progress::Progress(std::string label, std::int64_t steps, std::int64_t tokens, std::int64_t done)
    : label_(std::move(label)),
      steps_(steps),
      tokens_(std::max<std::int64_t>(tokens, 1)),
      steps_done_(done),
      start_(std::chrono::steady_clock::now()),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && tokens_done_ > 0) fmt::print(stderr, "\n");
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step_done(double loss, std::int64_t tokens, double operations) {
  constexpr double kRenewSeconds = 0.1;
  constexpr std::int64_t kPlainLines = 4, kBar = 24;
  const std::int64_t line = tokens_done_ * kPlainLines / tokens_;
  ++steps_done_;
  tokens_done_ += tokens;
  operations_ += operations;
  const double now = seconds();
  const bool due = terminal_ ? now - shown_at_ >= kRenewSeconds || steps_done_ == steps_
                             : line != tokens_done_ * kPlainLines / tokens_;
  if (!due) return;
  shown_at_ = now;
  const double share = std::min(1.0, static_cast<double>(tokens_done_) / static_cast<double>(tokens_));
  const auto filled = static_cast<std::size_t>(share * kBar);
  std::string of_peak;
  if (operations_ > 0) {
    if (peak_ == 0) peak_ = kernels::peak_gflops(current_threads()) * 1e9;
    of_peak = fmt::format("  {:.0f} % of peak", 100 * operations_ / now / peak_);
  }
  fmt::print(stderr, "{}{}[{}{}] step {}/{}  loss {:.4f}  {:.0f} tokens/s{}  {} left{}", terminal_ ? "\r" : "", label_,
             std::string(filled, '#'), std::string(kBar - filled, '.'), steps_done_, steps_, loss,
             static_cast<double>(tokens_done_) / now, of_peak, time_text(now / share - now), terminal_ ? "   " : "\n");
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

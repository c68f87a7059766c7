#include "progress.h"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/kernels/machine_probe.h"
#include "notes.h"

namespace heed::cli {
namespace {

std::string bar(double share) {
  constexpr std::size_t kCells = 24;
  const auto filled = static_cast<std::size_t>(share * kCells);
  return std::string(filled, '#') + std::string(kCells - filled, '.');
}

std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  return minutes < 100 ? fmt::format("{} min", minutes) : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace

Progress::Progress(std::string label, std::int64_t steps, std::int64_t tokens, std::int64_t done,
                   std::chrono::steady_clock::time_point start)
    : label_(std::move(label)),
      steps_(steps),
      tokens_(std::max<std::int64_t>(tokens, 1)),
      steps_done_(done),
      start_(start),
      terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && tokens_done_ > 0 && !is_quiet()) fmt::print(stderr, "\n");
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::step_done(double loss, std::int64_t tokens, double operations) {
  constexpr double kRenewSeconds = 0.1;
  constexpr std::int64_t kPlainLines = 4;
  const std::int64_t line = tokens_done_ * kPlainLines / tokens_;
  ++steps_done_;
  tokens_done_ += tokens;
  operations_ += operations;
  if (is_quiet()) return;
  const double now = seconds();
  const bool due = terminal_ ? now - shown_at_ >= kRenewSeconds || steps_done_ == steps_
                             : line != tokens_done_ * kPlainLines / tokens_;
  if (!due) return;
  shown_at_ = now;
  const double share = std::min(1.0, static_cast<double>(tokens_done_) / static_cast<double>(tokens_));
  std::string of_peak;
  if (operations_ > 0) {
    if (peak_ == 0) peak_ = kernels::peak_gflops(current_threads()) * 1e9;
    of_peak = fmt::format("  {:.0f} % of peak", 100 * operations_ / now / peak_);
  }
  fmt::print(stderr, "{}{}[{}] step {}/{}  loss {:.4f}  {:.0f} tokens/s{}  {} left{}", terminal_ ? "\r" : "", label_,
             bar(share), steps_done_, steps_, loss, static_cast<double>(tokens_done_) / now, of_peak,
             time_text(now / share - now), terminal_ ? "   " : "\n");
  std::fflush(stderr);
}

ShareProgress::ShareProgress(std::string label) : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) != 0) {}

ShareProgress::~ShareProgress() {
  if (terminal_ && shown_ >= 0) fmt::print(stderr, "\n");
}

void ShareProgress::show(double share) {
  if (is_quiet()) return;
  const double step = terminal_ ? 0.01 : 0.25;
  if (shown_ >= 0 && share - shown_ < step && (share < 1 || shown_ >= 1)) return;
  shown_ = share;
  fmt::print(stderr, "{}{}[{}] {:3.0f} %{}", terminal_ ? "\r" : "", label_, bar(share), share * 100,
             terminal_ ? "" : "\n");
  std::fflush(stderr);
}

TransferProgress::TransferProgress() : terminal_(isatty(STDERR_FILENO) != 0) {}

TransferProgress::~TransferProgress() {
  if (terminal_ && !label_.empty()) fmt::print(stderr, "\n");
}

void TransferProgress::show(const std::string& label, std::uint64_t done, std::uint64_t total) {
  if (is_quiet()) return;
  constexpr double kRenewSeconds = 0.1, kMegabyte = 1e6;
  const auto now = std::chrono::steady_clock::now();
  const bool begins = label != label_, ends = done == total;
  if (begins) {
    if (terminal_ && !label_.empty()) fmt::print(stderr, "\n");
    label_ = label;
    first_ = done;
    start_ = now;
    shown_at_ = 0;
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (terminal_ ? !begins && !ends && seconds - shown_at_ < kRenewSeconds : !ends) return;
  shown_at_ = seconds;
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
  const double speed = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  const std::string left = speed > 0 && done < total
                               ? fmt::format("  {:.0f} s left", static_cast<double>(total - done) / speed)
                               : std::string();
  fmt::print(stderr, "{}{} [{}] {:3.0f} %  {:.1f} MB  {:.1f} MB/s{}{}", terminal_ ? "\r" : "", label_, bar(share),
             share * 100, static_cast<double>(done) / kMegabyte, speed / kMegabyte, left, terminal_ ? "     " : "\n");
  std::fflush(stderr);
}

}  // namespace heed::cli

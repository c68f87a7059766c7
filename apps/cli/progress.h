// How far a long task is, on stderr: one line that renews itself on a terminal, four plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::cli {

class Progress {
 public:
  // `label` goes before the bar. Time left is judged by tokens, for steps may differ in size. The first `done` steps
  // are done already; `tokens` are those still to come. The first step began at `start`.
  Progress(std::string label, std::int64_t steps, std::int64_t tokens, std::int64_t done = 0,
           std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now());
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // After each step, with its loss, its tokens and perhaps its floating-point operations, which are then shown against
  // the best this machine can do.
  void step_done(double loss, std::int64_t tokens, double operations = 0);
  double seconds() const;

 private:
  std::string label_;
  std::int64_t steps_, tokens_, steps_done_, tokens_done_ = 0;
  double operations_ = 0, peak_ = 0;
  std::chrono::steady_clock::time_point start_;
  double shown_at_ = 0;
  bool terminal_;
};

// For tasks that know their share done and nothing else.
class ShareProgress {
 public:
  explicit ShareProgress(std::string label);
  ~ShareProgress();  // ends the line
  ShareProgress(const ShareProgress&) = delete;
  ShareProgress& operator=(const ShareProgress&) = delete;

  void show(double share);  // 0 to 1

 private:
  std::string label_;
  double shown_ = -1;  // the share of the last line
  bool terminal_;
};

// For files that come in, one after the other: share, speed and time left of each.
class TransferProgress {
 public:
  TransferProgress();
  ~TransferProgress();  // ends the line
  TransferProgress(const TransferProgress&) = delete;
  TransferProgress& operator=(const TransferProgress&) = delete;

  // `label` names the file; another than before begins a line. `total` 0: not known.
  void show(const std::string& label, std::uint64_t done, std::uint64_t total);

 private:
  std::string label_;
  std::uint64_t first_ = 0;  // bytes that were there when the file began
  std::chrono::steady_clock::time_point start_{};
  double shown_at_ = 0;
  bool terminal_;
};

}  // namespace heed::cli

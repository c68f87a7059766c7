// How far a training loop is, on stderr: one line that renews itself on a terminal, four plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::cli {

class Progress {
 public:
  // `label` goes before the bar.
  Progress(std::string label, std::int64_t steps, std::int64_t tokens_per_step);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // After each step, with its loss.
  void step_done(double loss);
  double seconds() const;

 private:
  std::string label_;
  std::int64_t steps_, tokens_per_step_, done_ = 0;
  std::chrono::steady_clock::time_point start_;
  double shown_at_ = 0;
  bool terminal_;
};

}  // namespace heed::cli

// A run of training as people see it: bars for what takes time, a line for each evaluation, the report of the test
// data.
#pragma once

#include <chrono>
#include <memory>

#include "heed/train/trainer.h"
#include "progress.h"

namespace heed::cli {

class TrainPrinter : public TrainEvents {
 public:
  void phase(const std::string& what) override;
  void note(const std::string& what) override;
  void progress(double share) override;
  void step(const StepReport& report) override;
  void evaluated(const EvaluationReport& report) override;

 private:
  std::unique_ptr<ShareProgress> share_;
  std::unique_ptr<Progress> steps_;
  // When the last thing that was no step ended: there the next step began.
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace heed::cli

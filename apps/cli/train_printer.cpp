#include "train_printer.h"

#include <fmt/core.h>

#include <cstdio>

#include "notes.h"

namespace heed::cli {

void TrainPrinter::phase(const std::string& what) {
  steps_.reset();
  share_ = std::make_unique<ShareProgress>(what + " ");
}

void TrainPrinter::note(const std::string& what) {
  steps_.reset();
  share_.reset();
  cli::note(what);
}

void TrainPrinter::progress(double share) {
  if (share_) share_->show(share);
  since_ = std::chrono::steady_clock::now();
}

void TrainPrinter::step(const StepReport& report) {
  share_.reset();
  if (!steps_) {
    steps_ =
        std::make_unique<Progress>("", report.steps, report.tokens + report.tokens_to_come, report.step - 1, since_);
  }
  steps_->step_done(report.loss, report.tokens, report.operations);
}

void TrainPrinter::evaluated(const EvaluationReport& report) {
  share_.reset();
  steps_.reset();
  for (const auto& [head, evaluation] : report.heads) {
    std::string line = fmt::format("step {} {}{}", report.step, report.split, head.empty() ? "" : " " + head);
    for (const auto& [name, value] : evaluation.metrics) line += fmt::format("  {} {:.4f}", name, value);
    fmt::print("{}{}\n", line, report.best && head.empty() ? "  (best so far)" : "");
    if (report.split == "test" && !evaluation.report.empty()) fmt::print("\n{}\n", evaluation.report);
  }
  std::fflush(stdout);
  since_ = std::chrono::steady_clock::now();
}

}  // namespace heed::cli

#include "heed/engine/batch_workers.h"

#include "heed/base/thread_budget.h"

namespace heed {

BatchWorkers::BatchWorkers(JobQueue& queue, std::int64_t budget, Run run, int workers)
    : queue_(queue), budget_(budget), run_(std::move(run)) {
  HEED_CHECK(budget >= 1 && workers >= 1 && run_, "[BatchWorkers] ", workers, " workers, budget ", budget,
             ": expected at least 1 of each, and a function");
  try {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    queue_.close();  // or those that started would wait forever
    throw;
  }
}

BatchWorkers::~BatchWorkers() {
  queue_.close();
}

void BatchWorkers::work() {
  while (true) {
    const JobBatch batch = queue_.take(budget_);
    if (batch.empty()) return;
    run(batch);
  }
}

void BatchWorkers::run(std::span<const std::unique_ptr<Job>> batch) const {
  std::exception_ptr error;
  try {
    ThreadShare share(ThreadBudget::process());
    run_(batch);
  } catch (...) {
    error = std::current_exception();
  }
  for (const auto& job : batch) {
    if (job->ended()) continue;
    if (error && batch.size() > 1) {
      job->fail_if_stopped("[BatchWorkers]");
      if (!job->ended()) run({&job, 1});
    } else if (error) {
      job->fail(error);
    } else {
      job->fail(std::make_exception_ptr(Error(ErrorKind::internal, "[BatchWorkers] a job was left without a result")));
    }
  }
}

}  // namespace heed

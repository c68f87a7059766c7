// Threads that run a function over the batches of a queue.
#pragma once

#include <functional>
#include <span>
#include <thread>

#include "heed/engine/queue.h"

namespace heed {

class BatchWorkers {
 public:
  // Ends the jobs of a batch, which are of one group. If it throws, each job that has not ended is run again by itself,
  // so that an error reaches the job that caused it and no other; requests are to be left as they are until then. A job
  // that it does not end fails as internal.
  using Run = std::function<void(std::span<const std::unique_ptr<Job>> batch)>;

  // Batches of up to `budget` tokens. Workers share the threads of the process (ThreadBudget).
  BatchWorkers(JobQueue& queue, std::int64_t budget, Run run, int workers = 1);
  // Closes the queue and waits until what is left has run; cancel() the queue first to end sooner.
  ~BatchWorkers();
  BatchWorkers(const BatchWorkers&) = delete;
  BatchWorkers& operator=(const BatchWorkers&) = delete;

 private:
  void work();
  void run(std::span<const std::unique_ptr<Job>> batch) const;

  JobQueue& queue_;
  const std::int64_t budget_;
  const Run run_;
  std::vector<std::jthread> threads_;
};

}  // namespace heed

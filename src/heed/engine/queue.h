// The batching queue: many callers push jobs, workers take batches of jobs that can run together.
//
// Bounded: at most `limit` tokens wait. Fair: callers take turns, so a caller that floods the queue waits behind its
// own jobs. A caller's jobs of one group run in the order they came. A job that is told to stop before it runs ends as
// cancelled when a worker comes upon it, or when another needs its room.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "heed/engine/job.h"

namespace heed {

class JobQueue {
 public:
  explicit JobQueue(std::int64_t limit);
  // Cancels what still waits.
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Never waits. Throws overloaded if the job does not fit now, invalid_argument if it never will, and cancelled after
  // close(). That is the answer then: the job itself does not end.
  void push(std::unique_ptr<Job> job);

  // Waits for jobs and takes those of one group, up to `budget` tokens; a larger job comes alone. The oldest job of the
  // caller whose turn it is comes first, then callers add one job each, in turn, while they fit. Empty after close(),
  // once nothing is left.
  JobBatch take(std::int64_t budget);

  // No further jobs; what waits can still be taken.
  void close();
  // No further jobs; what waits ends as cancelled.
  void cancel();

  std::int64_t waiting_tokens() const;
  std::int64_t waiting_jobs() const;

 private:
  struct Waiting {
    std::unique_ptr<Job> job;
    std::uint64_t arrival;
  };
  using Lane = std::deque<Waiting>;  // one caller's jobs of one group
  struct Caller {
    std::string name;
    std::map<std::string, Lane> lanes;  // by group
  };

  void make_room(std::int64_t tokens);
  void take_out(Waiting& waiting, JobBatch& to);
  void move_front(Lane& lane, JobBatch& to);
  void drop_stopped(Lane& lane, JobBatch& dropped);
  void take_first(JobBatch& batch, JobBatch& dropped);
  void fill_up(std::int64_t budget, JobBatch& batch, JobBatch& dropped);
  void forget_idle_callers();

  const std::int64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Caller> callers_;  // in the order of their turns
  std::unordered_map<std::string, std::list<Caller>::iterator> by_name_;
  std::int64_t tokens_ = 0, jobs_ = 0;
  std::uint64_t arrivals_ = 0;
  bool closed_ = false;
};

}  // namespace heed

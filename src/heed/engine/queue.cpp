#include "heed/engine/queue.h"

#include <algorithm>
#include <iterator>

namespace heed {
namespace {

// Without the lock: it calls others' code.
void end_stopped(const JobBatch& jobs) {
  for (const auto& job : jobs) job->fail_if_stopped("[queue]");
}

}  // namespace

JobQueue::JobQueue(std::int64_t limit) : limit_(limit) {
  HEED_CHECK(limit >= 1, "[queue] a limit of ", limit, " tokens, expected at least 1");
}

JobQueue::~JobQueue() {
  cancel();
}

void JobQueue::push(std::unique_ptr<Job> job) {
  const JobInfo& info = job->info();
  HEED_CHECK(info.tokens >= 1 && info.tokens <= limit_, "[queue] a job of ", info.tokens, " tokens, expected 1 to ",
             limit_);
  make_room(info.tokens);
  {
    std::lock_guard lock(mutex_);
    HEED_CHECK_AS(cancelled, !closed_, "[queue] closed: no further jobs");
    HEED_CHECK_AS(overloaded, info.tokens <= limit_ - tokens_, "[queue] a job of ", info.tokens,
                  " tokens does not fit: ", tokens_, " of ", limit_, " tokens are waiting");
    auto known = by_name_.find(info.caller);
    if (known == by_name_.end()) {
      callers_.push_back({info.caller, {}});
      known = by_name_.emplace(info.caller, std::prev(callers_.end())).first;
    }
    known->second->lanes[info.group].push_back({std::move(job), arrivals_++});
    tokens_ += info.tokens;
    ++jobs_;
  }
  changed_.notify_one();
}

JobBatch JobQueue::take(std::int64_t budget) {
  HEED_CHECK(budget >= 1, "[queue] a budget of ", budget, " tokens, expected at least 1");
  while (true) {
    JobBatch batch, dropped;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return jobs_ > 0 || closed_; });
      if (jobs_ == 0) return {};
      take_first(batch, dropped);
      if (!batch.empty()) fill_up(budget, batch, dropped);
      forget_idle_callers();
    }
    end_stopped(dropped);
    if (!batch.empty()) return batch;
  }
}

// If a job of so many tokens does not fit, those that were told to stop end, wherever they wait.
void JobQueue::make_room(std::int64_t tokens) {
  JobBatch dropped;
  {
    std::lock_guard lock(mutex_);
    if (tokens <= limit_ - tokens_) return;
    const auto goes_on = [](const Waiting& each) { return !each.job->info().stop.stop_requested(); };
    for (Caller& caller : callers_) {
      for (auto& [group, lane] : caller.lanes) {
        const auto stopped = std::stable_partition(lane.begin(), lane.end(), goes_on);
        for (auto each = stopped; each != lane.end(); ++each) take_out(*each, dropped);
        lane.erase(stopped, lane.end());
      }
    }
    forget_idle_callers();
  }
  end_stopped(dropped);
}

void JobQueue::take_out(Waiting& waiting, JobBatch& to) {
  to.push_back(std::move(waiting.job));
  tokens_ -= to.back()->info().tokens;
  --jobs_;
}

void JobQueue::move_front(Lane& lane, JobBatch& to) {
  take_out(lane.front(), to);
  lane.pop_front();
}

void JobQueue::drop_stopped(Lane& lane, JobBatch& dropped) {
  while (!lane.empty() && lane.front().job->info().stop.stop_requested()) move_front(lane, dropped);
}

// The oldest job of the caller whose turn it is; its turn is over then.
void JobQueue::take_first(JobBatch& batch, JobBatch& dropped) {
  for (auto caller = callers_.begin(); caller != callers_.end(); ++caller) {
    Lane* oldest = nullptr;
    for (auto& [group, lane] : caller->lanes) {
      drop_stopped(lane, dropped);
      if (!lane.empty() && (!oldest || lane.front().arrival < oldest->front().arrival)) oldest = &lane;
    }
    if (!oldest) continue;
    move_front(*oldest, batch);
    return callers_.splice(callers_.end(), callers_, caller);
  }
}

// More of its group: round by round one job of each caller, until its next does not fit.
void JobQueue::fill_up(std::int64_t budget, JobBatch& batch, JobBatch& dropped) {
  std::int64_t room = budget - batch[0]->info().tokens;
  std::vector<Lane*> lanes;
  for (Caller& caller : callers_) {
    const auto found = caller.lanes.find(batch[0]->info().group);
    if (found != caller.lanes.end()) lanes.push_back(&found->second);
  }
  while (!lanes.empty()) {
    std::erase_if(lanes, [&](Lane* lane) {
      drop_stopped(*lane, dropped);
      if (lane->empty() || lane->front().job->info().tokens > room) return true;
      room -= lane->front().job->info().tokens;
      move_front(*lane, batch);
      return false;
    });
  }
}

void JobQueue::forget_idle_callers() {
  std::erase_if(callers_, [&](Caller& caller) {
    std::erase_if(caller.lanes, [](const auto& lane) { return lane.second.empty(); });
    if (caller.lanes.empty()) by_name_.erase(caller.name);
    return caller.lanes.empty();
  });
}

void JobQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void JobQueue::cancel() {
  close();
  JobBatch left;
  {
    std::lock_guard lock(mutex_);
    for (Caller& caller : callers_) {
      for (auto& [group, lane] : caller.lanes) {
        while (!lane.empty()) move_front(lane, left);
      }
    }
    forget_idle_callers();
  }
  const auto error = std::make_exception_ptr(Error(ErrorKind::cancelled, "[queue] closed before the job ran"));
  for (const auto& job : left) job->fail(error);
}

std::int64_t JobQueue::waiting_tokens() const {
  std::lock_guard lock(mutex_);
  return tokens_;
}

std::int64_t JobQueue::waiting_jobs() const {
  std::lock_guard lock(mutex_);
  return jobs_;
}

}  // namespace heed

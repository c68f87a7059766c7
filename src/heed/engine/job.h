// What the queue carries: a cost, who asks, and a promise to say how it ended.
#pragma once

#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/stop.h"

namespace heed {

struct JobInfo {
  std::string group;        // what may run together: model and task
  std::string caller;       // callers take turns
  std::int64_t tokens = 1;  // the cost, at least 1
  StopToken stop{};
};

// Every job that the queue accepted ends once, with a result or with an error. One thread at a time has it: the one
// that pushes it, then the queue, then the worker that took it.
class Job {
 public:
  explicit Job(JobInfo info) : info_(std::move(info)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const JobInfo& info() const { return info_; }
  bool ended() const { return ended_; }
  // Ends it with an error; a job that has ended stays as it is.
  void fail(std::exception_ptr error) noexcept {
    if (!std::exchange(ended_, true)) on_error(std::move(error));
  }
  // Ends it as cancelled if it is to stop.
  void fail_if_stopped(const char* where) {
    try {
      info_.stop.check(where);
    } catch (...) {
      fail(std::current_exception());
    }
  }

 protected:
  // To be called before a result is handed over.
  void end() {
    HEED_CHECK_AS(internal, !std::exchange(ended_, true), "[Job] a second result for a job of ", info_.caller);
  }

 private:
  virtual void on_error(std::exception_ptr error) noexcept = 0;

  JobInfo info_;
  bool ended_ = false;
};

using JobBatch = std::vector<std::unique_ptr<Job>>;

// A request whose result is waited for. (Derive from Job for callbacks.)
template <class Request, class Result>
class Call final : public Job {
 public:
  Call(JobInfo info, Request request_value) : Job(std::move(info)), request(std::move(request_value)) {}
  std::future<Result> result() { return result_.get_future(); }
  void succeed(Result value) {
    end();
    result_.set_value(std::move(value));
  }

  Request request;

 private:
  void on_error(std::exception_ptr error) noexcept override { result_.set_exception(std::move(error)); }

  std::promise<Result> result_;
};

}  // namespace heed

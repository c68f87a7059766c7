#include "heed/engine/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "heed/engine/batch_workers.h"

namespace heed {
namespace {

using Echo = Call<std::string, std::string>;
using Jobs = std::span<const std::unique_ptr<Job>>;

std::future<std::string> push(JobQueue& queue, const std::string& caller, const std::string& request,
                              std::int64_t tokens = 1, const std::string& group = "", const StopToken& stop = {}) {
  auto job = std::make_unique<Echo>(JobInfo{group, caller, tokens, stop}, request);
  std::future<std::string> result = job->result();
  queue.push(std::move(job));
  return result;
}

std::string numbered(char letter, int i) {
  return std::string(1, letter).append(std::to_string(i));
}

const std::string& request(const std::unique_ptr<Job>& job) {
  return static_cast<const Echo&>(*job).request;
}

void answer(const std::unique_ptr<Job>& job) {
  auto& echo = static_cast<Echo&>(*job);
  echo.succeed(echo.request + "!");
}

// "a1 b1 a2": the requests of the next batch.
std::string take(JobQueue& queue, std::int64_t budget) {
  std::string names;
  for (const auto& job : queue.take(budget)) {
    names += (names.empty() ? "" : " ") + request(job);
    answer(job);
  }
  return names;
}

template <class Action>
std::pair<ErrorKind, std::string> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "expected an error";
  return {};
}

TEST(JobQueue, RefusesWhatDoesNotFit) {
  JobQueue queue(10);
  const auto first = push(queue, "a", "1", 7);
  EXPECT_EQ(error_of([&] { push(queue, "b", "2", 4); }),
            std::pair(ErrorKind::overloaded,
                      std::string("[queue] a job of 4 tokens does not fit: 7 of 10 tokens are waiting")));
  const auto second = push(queue, "b", "3", 3);
  EXPECT_EQ(queue.waiting_tokens(), 10);
  EXPECT_EQ(queue.waiting_jobs(), 2);
  EXPECT_EQ(error_of([&] { push(queue, "b", "4", 11); }).first, ErrorKind::invalid_argument);  // it never will
  EXPECT_EQ(error_of([&] { push(queue, "b", "4", 0); }).first, ErrorKind::invalid_argument);
  EXPECT_EQ(take(queue, 7), "1");
  const auto third = push(queue, "b", "5", 7);
  EXPECT_EQ(take(queue, 10), "3 5");
  EXPECT_EQ(queue.waiting_tokens(), 0);
  EXPECT_EQ(queue.waiting_jobs(), 0);
}

TEST(JobQueue, AFloodingCallerDoesNotKeepOthersWaiting) {
  JobQueue queue(1000);
  for (int i = 0; i < 100; ++i) push(queue, "flood", numbered('f', i));
  for (int i = 0; i < 3; ++i) push(queue, "quiet", numbered('q', i));
  push(queue, "late", "l0");
  for (const char* expected : {"f0", "q0", "l0", "f1", "q1", "f2", "q2", "f3", "f4"})
    EXPECT_EQ(take(queue, 1), expected);
  push(queue, "quiet", "q3");
  EXPECT_EQ(take(queue, 4), "f5 q3 f6 f7");
}

TEST(JobQueue, CallersFillABatchInTurn) {
  JobQueue queue(1000);
  for (int i = 0; i < 5; ++i) push(queue, "a", numbered('a', i), 2);
  for (int i = 0; i < 2; ++i) push(queue, "b", numbered('b', i), 3);
  push(queue, "c", "c0", 9);
  EXPECT_EQ(take(queue, 11), "a0 b0 a1 b1");  // 2 + 3 + 2 + 3; c0 does not fit
  EXPECT_EQ(take(queue, 11), "c0 a2");        // it is c's turn
  EXPECT_EQ(take(queue, 11), "a3 a4");
}

TEST(JobQueue, ALargeJobComesAloneAndIsNotPassedOver) {
  JobQueue queue(1000);
  push(queue, "a", "small", 1);
  push(queue, "b", "large", 50);
  push(queue, "b", "after", 1);
  push(queue, "a", "small too", 1);
  EXPECT_EQ(take(queue, 10), "small small too");  // what comes after the large one waits for it
  EXPECT_EQ(take(queue, 10), "large");
  EXPECT_EQ(take(queue, 10), "after");
}

TEST(JobQueue, ABatchHasOneGroup) {
  JobQueue queue(1000);
  push(queue, "a", "a0", 1, "x");
  push(queue, "a", "a1", 1, "y");
  push(queue, "a", "a2", 1, "x");
  push(queue, "b", "b0", 1, "y");
  push(queue, "b", "b1", 1, "x");
  EXPECT_EQ(take(queue, 10), "a0 b1 a2");  // the oldest of a says x
  EXPECT_EQ(take(queue, 10), "b0 a1");     // the oldest of b says y
}

TEST(JobQueue, CancelledJobsEndWithoutRunning) {
  JobQueue queue(10);
  const StopSource source;
  auto gone = push(queue, "a", "gone", 4, "", source.token());
  auto stays = push(queue, "a", "stays", 2);
  auto late = push(queue, "b", "late", 4, "", StopToken().with_deadline(StopToken::Clock::now()));
  source.request_stop();
  EXPECT_EQ(take(queue, 10), "stays");
  EXPECT_EQ(stays.get(), "stays!");
  EXPECT_EQ(error_of([&] { gone.get(); }), std::pair(ErrorKind::cancelled, std::string("[queue] cancelled")));
  EXPECT_EQ(error_of([&] { late.get(); }),
            std::pair(ErrorKind::cancelled, std::string("[queue] cancelled: the deadline has passed")));
  EXPECT_EQ(queue.waiting_tokens(), 0);
  auto only = push(queue, "a", "only", 10, "", source.token());
  queue.close();
  EXPECT_EQ(take(queue, 10), "");
  EXPECT_EQ(error_of([&] { only.get(); }).first, ErrorKind::cancelled);
}

TEST(JobQueue, CancelledJobsMakeRoomForOthers) {
  JobQueue queue(10);
  const StopSource source;
  auto first = push(queue, "a", "first", 2);
  auto gone = push(queue, "a", "gone", 3, "", source.token());  // not at the front
  auto late = push(queue, "b", "late", 4, "other", StopToken().with_deadline(StopToken::Clock::now()));
  source.request_stop();
  EXPECT_EQ(queue.waiting_tokens(), 9);
  auto small = push(queue, "c", "small", 1);  // fits as it is
  EXPECT_EQ(queue.waiting_tokens(), 10);
  // Does not fit even so, but they have ended.
  EXPECT_EQ(error_of([&] { push(queue, "c", "large", 8); }),
            std::pair(ErrorKind::overloaded,
                      std::string("[queue] a job of 8 tokens does not fit: 3 of 10 tokens are waiting")));
  EXPECT_EQ(error_of([&] { gone.get(); }).first, ErrorKind::cancelled);
  EXPECT_EQ(error_of([&] { late.get(); }),
            std::pair(ErrorKind::cancelled, std::string("[queue] cancelled: the deadline has passed")));
  EXPECT_EQ(queue.waiting_jobs(), 2);
  auto last = push(queue, "b", "last", 7);
  EXPECT_EQ(take(queue, 10), "first small last");
  EXPECT_EQ(queue.waiting_tokens(), 0);
}

TEST(JobQueue, ClosingLeavesWhatWaitsOrCancelsIt) {
  JobQueue queue(10);
  auto first = push(queue, "a", "1"), second = push(queue, "b", "2");
  queue.close();
  EXPECT_EQ(error_of([&] { push(queue, "a", "3"); }).first, ErrorKind::cancelled);
  EXPECT_EQ(take(queue, 1), "1");
  queue.cancel();
  EXPECT_EQ(take(queue, 1), "");
  EXPECT_EQ(first.get(), "1!");
  EXPECT_EQ(error_of([&] { second.get(); }),
            std::pair(ErrorKind::cancelled, std::string("[queue] closed before the job ran")));
  std::future<std::string> left;
  {
    JobQueue brief(10);
    left = push(brief, "a", "1");
  }
  EXPECT_EQ(error_of([&] { left.get(); }).first, ErrorKind::cancelled);
}

TEST(JobQueue, WaitingThreadsWakeUp) {
  JobQueue queue(10);
  std::atomic<int> jobs = 0, ended = 0;
  std::vector<std::thread> takers;
  for (int i = 0; i < 3; ++i) {
    takers.emplace_back([&] {
      while (!take(queue, 1).empty()) ++jobs;
      ++ended;
    });
  }
  EXPECT_EQ(push(queue, "a", "1").get(), "1!");
  EXPECT_EQ(push(queue, "a", "2").get(), "2!");
  EXPECT_EQ(ended, 0);
  queue.close();
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(jobs, 2);
}

TEST(BatchWorkers, AnErrorReachesTheJobThatCausedIt) {
  JobQueue queue(100);
  auto good = push(queue, "a", "good"), bad = push(queue, "b", "bad"), fine = push(queue, "c", "fine"),
       forgotten = push(queue, "d", "forgotten"), twice = push(queue, "e", "twice");
  const StopSource source;
  auto stopped = push(queue, "f", "stopped", 1, "", source.token());
  std::vector<std::size_t> sizes;
  std::size_t runs_of_good = 0;
  {
    BatchWorkers workers(queue, 100, [&](Jobs batch) {
      sizes.push_back(batch.size());
      for (const auto& job : batch) {
        HEED_CHECK(request(job) != "bad", "[test] bad");
        if (request(job) == "good") ++runs_of_good;
        if (request(job) == "twice") answer(job);
        if (request(job) != "forgotten") answer(job);
      }
      source.request_stop();
    });
    EXPECT_EQ(error_of([&] { bad.get(); }), std::pair(ErrorKind::invalid_argument, std::string("[test] bad")));
    EXPECT_EQ(fine.get(), "fine!");
    EXPECT_EQ(error_of([&] { forgotten.get(); }).first, ErrorKind::internal);
    EXPECT_EQ(twice.get(), "twice!");
    EXPECT_EQ(error_of([&] { stopped.get(); }),
              std::pair(ErrorKind::cancelled, std::string("[BatchWorkers] cancelled")));
    EXPECT_EQ(good.get(), "good!");
  }
  EXPECT_EQ(runs_of_good, 1u);  // it had its result
  EXPECT_EQ(sizes, (std::vector<std::size_t>{6, 1, 1, 1, 1}));
}

TEST(BatchWorkers, EndingRunsWhatIsLeft) {
  std::vector<std::future<std::string>> results;
  JobQueue queue(100);
  for (int i = 0; i < 20; ++i) results.push_back(push(queue, "a", std::to_string(i)));
  {
    BatchWorkers workers(queue, 3, [](Jobs batch) { std::ranges::for_each(batch, answer); });
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), std::to_string(i) + "!");
  EXPECT_THROW(BatchWorkers(queue, 0, [](Jobs) {}), Error);
  EXPECT_THROW(BatchWorkers(queue, 1, {}), Error);
}

// Callers on several threads, cancelling some of theirs and refused others, and several workers: every accepted job
// ends once, batches keep to the budget and the group, the limit holds.
TEST(BatchWorkers, ManyThreadsLoseNothing) {
  constexpr std::int64_t kLimit = 64, kBudget = 16;
  JobQueue queue(kLimit);
  std::atomic<std::int64_t> ran = 0, answered = 0, cancelled = 0, refused = 0, wrong = 0;
  std::vector<std::thread> callers;
  {
    BatchWorkers workers(
        queue, kBudget,
        [&](Jobs batch) {
          std::int64_t tokens = 0;
          for (const auto& job : batch) {
            tokens += job->info().tokens;
            if (job->info().group != batch[0]->info().group) ++wrong;
            answer(job);
            ++ran;
          }
          if (batch.size() > 1 && tokens > kBudget) ++wrong;
        },
        3);
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&, c] {
        for (int i = 0; i < 300; ++i) {
          const StopSource source;
          if (i % 7 == 0) source.request_stop();
          try {
            auto result = push(queue, std::to_string(c % 3), std::to_string(i), 1 + i % 20, std::to_string(i % 2),
                               source.token());
            if (queue.waiting_tokens() > kLimit) ++wrong;
            if (i % 3 == 0) continue;  // the result is not waited for
            if (result.get() != std::to_string(i) + "!") ++wrong;
            ++answered;
          } catch (const Error& error) {
            ++(error.kind() == ErrorKind::cancelled ? cancelled : refused);
            if (error.kind() == ErrorKind::cancelled && i % 7 != 0) ++wrong;
          }
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(queue.waiting_jobs(), 0);
  EXPECT_EQ(queue.waiting_tokens(), 0);
  EXPECT_GE(ran, answered);
  EXPECT_GT(answered, 0);
  EXPECT_GT(cancelled, 0);
}

}  // namespace
}  // namespace heed

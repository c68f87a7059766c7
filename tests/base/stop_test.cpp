#include "heed/base/stop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace heed {
namespace {

using Clock = StopToken::Clock;

std::string stopped(const StopToken& token) {
  try {
    token.check("[here]");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    return error.what();
  }
}

TEST(Stop, ADefaultTokenNeverStops) {
  EXPECT_FALSE(StopToken().stop_requested());
  EXPECT_EQ(stopped(StopToken()), "");
}

TEST(Stop, AllTokensOfASourceStop) {
  const StopSource source, other;
  const StopToken token = source.token(), copy = token;
  EXPECT_EQ(stopped(copy), "");
  source.request_stop();
  source.request_stop();
  for (const StopToken& each : {token, copy, source.token(), token.with_deadline(Clock::time_point::max())}) {
    EXPECT_TRUE(each.stop_requested());
    EXPECT_EQ(stopped(each), "[here] cancelled");
  }
  EXPECT_FALSE(other.token().stop_requested());
}

TEST(Stop, ATokenOutlivesItsSource) {
  StopToken token;
  {
    const StopSource source;
    token = source.token();
    source.request_stop();
  }
  EXPECT_TRUE(token.stop_requested());
}

TEST(Stop, TheEarlierDeadlineCounts) {
  const Clock::time_point past = Clock::now() - std::chrono::seconds(1), future = past + std::chrono::hours(1);
  EXPECT_EQ(stopped(StopToken().with_deadline(future)), "");
  EXPECT_EQ(stopped(StopToken().with_deadline(past)), "[here] cancelled: the deadline has passed");
  EXPECT_TRUE(StopToken().with_deadline(past).with_deadline(future).stop_requested());
  EXPECT_TRUE(StopToken().with_deadline(future).with_deadline(past).stop_requested());
  const StopSource source;
  EXPECT_FALSE(source.token().with_deadline(future).stop_requested());
}

TEST(Stop, ADeadlineComes) {
  const StopToken token = StopToken().with_deadline(Clock::now() + std::chrono::milliseconds(5));
  while (!token.stop_requested()) std::this_thread::yield();
  EXPECT_NE(stopped(token), "");
}

TEST(Stop, ASignalHandlerStopsAnotherThread) {
  static const StopSource source;
  const auto before = std::signal(SIGUSR1, [](int) { source.request_stop(); });
  std::thread worker([token = source.token()] {
    while (!token.stop_requested()) std::this_thread::yield();
  });
  std::raise(SIGUSR1);
  worker.join();
  std::signal(SIGUSR1, before);
}

}  // namespace
}  // namespace heed

// Downloads from a server of this test's own that never answers. What a hub sends is tested by tests/apps/pull_test.sh.
#include "heed/io/download.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "heed/base/stop.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

// Listens on a port of 127.0.0.1; connections are made by the system and then hear nothing.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    works_ = ::bind(socket_, any, size) == 0 && ::listen(socket_, 8) == 0 && ::getsockname(socket_, any, &size) == 0;
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  bool works() const { return works_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/file"; }
  // Nobody listens any more.
  void stop_listening() {
    ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
  bool works_ = false;
  unsigned port_ = 0;
};

// The seconds until a download that is stopped after a tenth of one has thrown.
double seconds_until_cancelled(const std::string& url, const DownloadOptions& options, bool as_file) {
  ::setenv("no_proxy", "127.0.0.1", 1);
  const test::TempFolder folder;
  const StopSource source;
  const StopScope scope(source.token());
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  test::error_of(ErrorKind::cancelled, [&] {
    if (as_file) {
      fetch_file(url, folder.path() / "file", folder.path() / "parts" / "file", options);
    } else {
      fetch_text(url, 1000, options);
    }
  });
  stopper.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Download, StopsWhileNothingComes) {
  const SilentServer server;
  ASSERT_TRUE(server.works());
  const DownloadOptions options{.stall = std::chrono::seconds(20)};
  for (const bool as_file : {false, true}) EXPECT_LT(seconds_until_cancelled(server.url(), options, as_file), 5);
}

TEST(Download, StopsBetweenAttempts) {
  SilentServer server;
  ASSERT_TRUE(server.works());
  server.stop_listening();
  const DownloadOptions options{.pause = std::chrono::seconds(20)};
  for (const bool as_file : {false, true}) EXPECT_LT(seconds_until_cancelled(server.url(), options, as_file), 5);
}

}  // namespace
}  // namespace heed

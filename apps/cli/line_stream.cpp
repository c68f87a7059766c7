#include "line_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "heed/base/error.h"
#include "heed/data/line_file.h"

namespace heed::cli {

LineStream::LineStream(const std::string& path, StopToken stop)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      stop_(std::move(stop)) {
  HEED_CHECK_AS(io, descriptor_ >= 0, name_, ": cannot open: ", std::generic_category().message(errno));
}

LineStream::~LineStream() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

bool LineStream::readable(int milliseconds) const {
  pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, milliseconds) > 0;
}

void LineStream::fill() {
  constexpr int kAskStop = 100;  // milliseconds
  constexpr std::size_t kPiece = 1 << 16;
  do {
    stop_.check(name_.c_str());
  } while (!readable(kAskStop));
  if (used_ > kPiece) {
    buffer_.erase(0, used_);
    looked_ -= used_;
    used_ = 0;
  }
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kPiece);
  const ssize_t got = ::read(descriptor_, buffer_.data() + before, kPiece);
  const int code = errno;
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  HEED_CHECK_AS(io, got >= 0 || code == EINTR || code == EAGAIN, name_,
                ": cannot read: ", std::generic_category().message(code));
  ended_ = got == 0;
}

bool LineStream::line(std::string& line) {
  std::size_t end = buffer_.find('\n', looked_);
  while (end == std::string::npos && !ended_) {
    looked_ = buffer_.size();
    HEED_CHECK_AS(bad_format, buffer_.size() - used_ <= detail::kMostRowBytes, name_, ": has a line of more than ",
                  detail::kMostRowBytes, " bytes");
    fill();
    end = buffer_.find('\n', looked_);
  }
  if (end == std::string::npos && used_ == buffer_.size()) return false;
  line = buffer_.substr(used_, std::min(end, buffer_.size()) - used_);
  if (first_ && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  first_ = false;
  used_ = looked_ = end == std::string::npos ? buffer_.size() : end + 1;
  return true;
}

bool LineStream::ready() {
  while (!ended_ && buffer_.find('\n', looked_) == std::string::npos) {
    looked_ = buffer_.size();
    if (!readable(0) || buffer_.size() - used_ > detail::kMostRowBytes) return false;
    fill();
  }
  return true;
}

}  // namespace heed::cli

#include "heed/io/download.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/stop.h"
#include "heed/io/checksum.h"
#include "heed/io/http.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestPause{30'000};
constexpr std::uint64_t kMostUnknownBytes = 100'000'000;  // of a file whose size the server does not tell
constexpr int kCorruptAttempts = 2;

class TextBody : public HttpBody {
 public:
  TextBody(std::string url, std::size_t most_bytes) : url_(std::move(url)), most_(most_bytes) {}
  void begin(const HttpReply&) override { text.clear(); }
  void write(std::span<const char> bytes) override {
    HEED_CHECK_AS(bad_format, bytes.size() <= most_ - text.size(), url_, ": the answer has more than ", most_,
                  " bytes");
    text.append(bytes.data(), bytes.size());
  }
  std::string text;

 private:
  std::string url_;
  std::size_t most_;
};

void sleep_unless_stopped(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kBetweenQuestions{50};
  for (; time.count() > 0; time -= kBetweenQuestions) {
    StopScope::current().check("[download]");
    std::this_thread::sleep_for(std::min(time, kBetweenQuestions));
  }
}

// attempt() until it returns. progress() counts what has been reached: as long as it grows, there are further attempts.
template <class Attempt, class Progress>
void with_attempts(const std::string& url, const DownloadOptions& options, const Attempt& attempt,
                   const Progress& progress) {
  int failures = 0;
  auto pause = options.pause;
  for (std::uint64_t reached = progress();;) {
    try {
      return attempt();
    } catch (const TransientFailure& failure) {
      if (progress() > reached) failures = 0, pause = options.pause;
      reached = progress();
      HEED_CHECK_AS(io, ++failures < options.attempts, url, ": ", failure.why, "; gave up after ", failures,
                    failures == 1 ? " attempt" : " attempts",
                    reached > 0 ? ". What arrived is kept; try again later" : "");
    }
    sleep_unless_stopped(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

// What a part is a part of.
struct PartNote {
  std::string tag;         // what the hub calls the contents
  std::string validator;   // the ETag of the host that sends them, for If-Range
  std::uint64_t size = 0;  // 0: not known
};

// An open file, locked against other processes.
class LockedFile {
 public:
  explicit LockedFile(const fs::path& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    HEED_CHECK_AS(io, descriptor_ >= 0, path.string(), ": cannot open: ", std::generic_category().message(errno));
    // The previous holder of the lock may have moved the file away: then this is no longer it.
    struct stat here, there;
    const bool ours = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor_, &here) == 0 &&
                      ::stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
    if (ours) return;
    ::close(descriptor_);
    fail(ErrorKind::io, path.string(), ": is being loaded by another process; try again when it is done");
  }
  ~LockedFile() { ::close(descriptor_); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

fs::path with_parent(const fs::path& path) {
  fs::create_directories(path.parent_path());
  return path;
}

// The growing file.
class PartFile : public HttpBody {
 public:
  PartFile(const fs::path& path, std::string url, const OnBytes& on_bytes)
      : path_(with_parent(path)),
        note_path_(path.string() + ".json"),
        url_(std::move(url)),
        on_bytes_(on_bytes),
        file_(path) {
    size_ = static_cast<std::uint64_t>(::lseek(file_.get(), 0, SEEK_END));
    read_note();
    if (note_.validator.empty() || (note_.size > 0 && size_ > note_.size)) restart();
  }

  std::uint64_t size() const { return size_; }
  bool is_complete() const { return note_.size > 0 && size_ == note_.size; }
  const PartNote& note() const { return note_; }

  // Asks for what is missing.
  void request(const DownloadOptions& options) {
    std::vector<std::string> headers;
    if (size_ > 0) headers = {"Range: bytes=" + std::to_string(size_) + "-", "If-Range: " + note_.validator};
    try {
      http_get(url_, headers, options, *this);
    } catch (const TransientFailure& failure) {
      constexpr long kNoSuchRange = 416;
      if (failure.status == kNoSuchRange) restart();
      throw;
    }
  }

  void begin(const HttpReply& reply) override {
    const bool continues = reply.status == 206;
    if (continues) {
      check_continuation(reply);
    } else {
      restart();
      const std::string tag = reply.header("etag");
      note_ = {reply.content_tag, tag.starts_with("W/") ? "" : tag,
               reply.number("content-length").value_or(reply.content_size.value_or(0))};
      write_note();
    }
    HEED_CHECK_AS(bad_format, !reply.content_size || note_.size == *reply.content_size, url_, ": the server sends ",
                  note_.size, " bytes, the hub says ", reply.content_size.value_or(0));
  }
  void write(std::span<const char> bytes) override {
    const std::uint64_t most = note_.size > 0 ? note_.size : kMostUnknownBytes;
    HEED_CHECK_AS(bad_format, bytes.size() <= most - std::min(most, size_), url_, ": the server sends more than ", most,
                  " bytes");
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (written < 0 && errno == EINTR) continue;
      check(written >= 0, "write");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      size_ += static_cast<std::uint64_t>(written);
    }
    if (on_bytes_) on_bytes_(size_, note_.size);
  }

  void restart() {
    check(::ftruncate(file_.get(), 0) == 0, "empty");
    size_ = 0;
    note_ = {};
  }
  // "" if the contents are what the hub says.
  std::string complaint() const {
    const bool by_sha256 = is_hexadecimal(note_.tag, 64), by_git = is_hexadecimal(note_.tag, 40);
    if (!by_sha256 && !by_git) return "";
    const MappedFile file(path_);
    const std::string found = by_sha256 ? sha256(file.bytes()) : git_blob_sha1(file.bytes());
    if (found == note_.tag) return "";
    return std::string(by_sha256 ? "SHA-256" : "SHA-1 of the git blob") + " is " + found + ", expected " + note_.tag;
  }
  void put_in_place(const fs::path& target) {
    check(::fsync(file_.get()) == 0, "synchronise");
    fs::create_directories(target.parent_path());
    check(::rename(path_.c_str(), target.c_str()) == 0, "put in place");
    std::error_code ignored;  // a note without its part is overwritten by the next
    fs::remove(note_path_, ignored);
  }

 private:
  void check(bool right, std::string_view action) const {
    HEED_CHECK_AS(io, right, path_.string(), ": cannot ", action, ": ", std::generic_category().message(errno));
  }
  // 206 must go on exactly where the part ends, in the same file.
  void check_continuation(const HttpReply& reply) {
    const std::string range = reply.header("content-range"), expected = "bytes " + std::to_string(size_) + "-";
    const std::size_t slash = range.find('/');
    const bool same = reply.content_tag.empty() || note_.tag.empty() || reply.content_tag == note_.tag;
    const bool fits = range.starts_with(expected) && slash != std::string::npos &&
                      (note_.size == 0 || range.substr(slash + 1) == std::to_string(note_.size));
    if (same && fits) return;
    restart();
    throw TransientFailure{same ? "the server continues at \"" + range + "\", expected " + expected
                                : std::string("the file has changed on the server")};
  }
  void read_note() {
    std::error_code unreadable;
    if (!fs::exists(note_path_, unreadable)) return;
    try {
      const Json note = parse_json(read_file(note_path_, 1 << 16), note_path_);
      note_ = {json_required<std::string>(note, "tag", note_path_),
               json_required<std::string>(note, "validator", note_path_),
               json_required<std::uint64_t>(note, "size", note_path_)};
      if (note_.validator.find_first_of("\r\n") != std::string::npos) note_ = {};
    } catch (const Error&) {
      note_ = {};  // then the file begins anew
    }
  }
  void write_note() const {
    replace_file(note_path_, Json({{"tag", note_.tag}, {"validator", note_.validator}, {"size", note_.size}}).dump());
  }

  fs::path path_;
  std::string note_path_, url_;
  const OnBytes& on_bytes_;
  LockedFile file_;
  std::uint64_t size_ = 0;
  PartNote note_;
};

}  // namespace

std::string fetch_text(const std::string& url, std::size_t most_bytes, const DownloadOptions& options) {
  TextBody body(url, most_bytes);
  with_attempts(
      url, options, [&] { http_get(url, {}, options, body); }, [] { return std::uint64_t{0}; });
  return std::move(body.text);
}

void fetch_file(const std::string& url, const fs::path& path, const fs::path& part, const DownloadOptions& options,
                const OnBytes& on_bytes) {
  PartFile file(part, url, on_bytes);
  std::string complaint;
  for (int attempt = 0; attempt < kCorruptAttempts; ++attempt) {
    with_attempts(
        url, options,
        [&] {
          if (file.is_complete()) return;
          file.request(options);
          const std::uint64_t size = file.note().size;
          if (size > 0 && file.size() < size) {
            throw TransientFailure{"the connection ended after " + std::to_string(file.size()) + " of " +
                                   std::to_string(size) + " bytes"};
          }
        },
        [&] { return file.size(); });
    complaint = file.complaint();
    if (complaint.empty()) return file.put_in_place(path);
    file.restart();
  }
  fail(ErrorKind::bad_format, url, ": what arrives is not the file: ", complaint);
}

}  // namespace heed

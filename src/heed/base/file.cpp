#include "heed/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "heed/base/checked.h"
#include "heed/base/error.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Names of AtomicFile's temporary files: .heed-<process>-<number>.tmp
constexpr std::string_view kTemporaryPrefix = ".heed-", kTemporarySuffix = ".tmp";

bool is_absent(int code) {
  return code == ENOENT || code == ENOTDIR;
}

// `code` is what errno was right after the failing call.
[[noreturn]] void fail_system(ErrorKind kind, const fs::path& path, std::string_view action, int code) {
  fail(kind, path.string(), ": cannot ", action, ": ", std::generic_category().message(code));
}
[[noreturn]] void fail_to_read(const fs::path& path, std::string_view action, int code) {
  fail_system(is_absent(code) ? ErrorKind::not_found : ErrorKind::io, path, action, code);
}
[[noreturn]] void fail_to_write(const fs::path& path, std::string_view action, int code) {
  fail_system(ErrorKind::io, path, action, code);
}

void check_path(const fs::path& path) {
  HEED_CHECK(!path.empty(), "the file name is empty");
  HEED_CHECK(path.native().find('\0') == std::string::npos, path.native(), ": the file name has a NUL character");
}

std::string_view kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t size;
};

OpenFile open_regular(const fs::path& path) {
  check_path(path);
  // Non-blocking: opening a pipe must not wait for its writer.
  OpenFile file{Descriptor(open_retrying(path, O_RDONLY | O_NONBLOCK)), 0};
  if (file.descriptor.get() < 0) fail_to_read(path, "open", errno);
  struct stat status;
  if (::fstat(file.descriptor.get(), &status) != 0) fail_to_read(path, "inspect", errno);
  HEED_CHECK_AS(io, S_ISREG(status.st_mode), path.string(), ": is ", kind_name(status.st_mode),
                ", expected a regular file");
  file.size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

int sync_retrying(int descriptor) {
  int result;
  do {
    result = ::fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  return result;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_inside(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const OpenFile file = open_regular(path);
  size_ = checked_cast<std::size_t>(file.size, path.string(), ErrorKind::io);
  if (size_ == 0) return;  // mmap refuses a length of 0
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (mapped == MAP_FAILED) fail_to_read(path, "map", errno);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
  const OpenFile file = open_regular(path);
  const auto check_size = [&](std::uint64_t size) {
    HEED_CHECK_AS(bad_format, size <= max_bytes, path.string(), ": has ", size, " bytes or more, expected at most ",
                  max_bytes);
  };
  check_size(file.size);
  // The size is only a hint (files of /proc have 0), so read until nothing comes; one byte more shows the end.
  std::string text;
  std::size_t used = 0;
  for (text.resize(file.size + 1);;) {
    if (used == text.size()) text.resize(2 * text.size());
    const ssize_t got = ::read(file.descriptor.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, "read", errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    check_size(used);
  }
  text.resize(used);
  return text;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  check_path(path_);
  struct stat status;
  const bool replaces = ::stat(path_.c_str(), &status) == 0;
  HEED_CHECK_AS(io, !replaces || S_ISREG(status.st_mode), path_.string(), ": is ", kind_name(status.st_mode),
                ", expected a regular file or nothing");
  // Process id and counter make the name unique here; O_EXCL guards against leftovers and other machines.
  static std::atomic<std::uint64_t> counter{0};
  do {
    const std::string number = std::to_string(::getpid()) + "-" + std::to_string(counter++);
    temporary_ = folder_of(path_) / (std::string(kTemporaryPrefix) + number + std::string(kTemporarySuffix));
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL, replaces ? 0600 : 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int code = errno;
    temporary_.clear();
    HEED_CHECK_AS(io, !is_absent(code), path_.string(), ": there is no folder ", folder_of(path_).string(),
                  " to write it to");
    fail_to_write(path_, "create a temporary file beside it", code);
  }
  if (replaces && ::fchmod(descriptor_, status.st_mode & 0777) != 0) {
    const int code = errno;
    abandon();
    fail_to_write(path_, "keep its permissions", code);
  }
}

AtomicFile::~AtomicFile() {
  abandon();
}

void AtomicFile::abandon() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  HEED_CHECK(descriptor_ >= 0, path_.string(), ": write after commit or after an error");
  put(bytes);
}

void AtomicFile::write_again(std::uint64_t offset, std::string_view text) {
  HEED_CHECK(descriptor_ >= 0, path_.string(), ": write after commit or after an error");
  const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
  HEED_CHECK(end >= 0 && text.size() <= static_cast<std::uint64_t>(end) &&
                 offset <= static_cast<std::uint64_t>(end) - text.size(),
             path_.string(), ": ", text.size(), " bytes at ", offset, " are not within the ", end, " written");
  ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET);
  put(std::as_bytes(std::span(text)));
  ::lseek(descriptor_, end, SEEK_SET);
}

void AtomicFile::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int code = errno;
      abandon();
      fail_to_write(path_, "write", code);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  HEED_CHECK(descriptor_ >= 0, path_.string(), ": commit after commit or after an error");
  const auto check = [this](int result, std::string_view action) {
    if (result == 0) return;
    const int code = errno;
    abandon();
    fail_to_write(path_, action, code);
  };
  check(sync_retrying(descriptor_), "synchronise");
  // Linux closes the descriptor even when close() reports an error.
  check(::close(std::exchange(descriptor_, -1)), "close");
  check(::rename(temporary_.c_str(), path_.c_str()), "put the new version in place");
  temporary_.clear();
  const Descriptor folder(open_retrying(folder_of(path_), O_RDONLY | O_DIRECTORY));
  // Some file systems have nothing to synchronise for a folder and say EINVAL.
  if (folder.get() < 0 || (sync_retrying(folder.get()) != 0 && errno != EINVAL)) {
    fail_to_write(folder_of(path_), "synchronise the folder", errno);
  }
}

void replace_file(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void replace_file(const fs::path& path, std::string_view text) {
  replace_file(path, std::as_bytes(std::span(text)));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  HEED_CHECK_AS(io, !error, folder.string(), ": cannot make this folder: ", error.message());
}

void remove_unfinished_files(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool unfinished = name.starts_with(kTemporaryPrefix) && name.ends_with(kTemporarySuffix);
    if (unfinished && entry.is_regular_file(ignored)) fs::remove(entry.path(), ignored);
  }
}

fs::path join_inside(const fs::path& folder, std::string_view relative, Links links) {
  const auto refuse = [&](std::string_view why) {
    fail(ErrorKind::invalid_argument, "[join_inside] \"", relative, "\" ", why, ", expected a path inside ",
         folder.string());
  };
  if (relative.empty()) refuse("is empty");
  if (relative.find('\0') != std::string_view::npos) refuse("has a NUL character");
  const fs::path inner(relative);
  if (inner.is_absolute()) refuse("is absolute");
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  HEED_CHECK_AS(not_found, !error, folder.string(), ": ", error.message());
  fs::path walked = root;
  bool names_something = false;
  for (const fs::path& part : inner) {
    if (part == "..") refuse("has a \"..\" part");
    names_something = names_something || (part != "." && !part.empty());
    walked /= part;
    if (links == Links::anywhere || !fs::is_symlink(fs::symlink_status(walked, error))) continue;
    const fs::path target = fs::canonical(walked, error);
    if (error) refuse("passes a symbolic link that leads nowhere");
    if (!is_inside(root, target)) refuse("passes a symbolic link that leads outside");
  }
  if (!names_something) refuse("names the folder itself");
  return folder / inner;
}

}  // namespace heed

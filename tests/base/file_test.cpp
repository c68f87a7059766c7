#include "heed/base/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iterator>
#include <string>
#include <thread>

#include "heed/base/error.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempFolder;

auto files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

unsigned mode_of(const fs::path& path) {
  struct stat status;
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(MappedFile, ShowsTheBytes) {
  TempFolder folder;
  const std::string text("a\0b\xFF", 4);
  const auto path = folder.write("x", text);
  MappedFile file(path);
  EXPECT_EQ(file.text(), text);
  EXPECT_EQ(file.bytes().size(), 4u);
  MappedFile moved(std::move(file));
  EXPECT_EQ(moved.text(), text);
  EXPECT_EQ(moved.path(), path);
  MappedFile other(folder.write("y", "other"));
  other = std::move(moved);
  EXPECT_EQ(other.text(), text);
}

TEST(MappedFile, AnEmptyFileIsFine) {
  TempFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("x", "")).bytes().empty());
}

TEST(MappedFile, KeepsTheOldVersionWhenTheFileIsReplaced) {
  TempFolder folder;
  const auto path = folder.write("x", "old");
  const MappedFile file(path);
  replace_file(path, "newer");
  EXPECT_EQ(file.text(), "old");
  EXPECT_EQ(MappedFile(path).text(), "newer");
}

TEST(Files, WhatIsNotARegularFileIsRefusedByName) {
  TempFolder folder;
  const auto absent = folder.path() / "absent";
  EXPECT_EQ(error_of(ErrorKind::not_found, [&] { MappedFile file(absent); }),
            absent.string() + ": cannot open: No such file or directory");
  error_of(ErrorKind::not_found, [&] { read_file(absent, 10); });
  error_of(ErrorKind::not_found, [&] { read_file(folder.write("file", "") / "below", 10); });
  EXPECT_EQ(error_of(ErrorKind::io, [&] { MappedFile file(folder.path()); }),
            folder.path().string() + ": is a folder, expected a regular file");
  error_of(ErrorKind::io, [] { MappedFile file("/dev/null"); });
  error_of(ErrorKind::io, [] { read_file("/dev/zero", 10); });
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(ErrorKind::io, [&] { read_file(pipe, 10); }),
            pipe.string() + ": is a pipe, expected a regular file");
  error_of(ErrorKind::invalid_argument, [] { read_file("", 10); });
  error_of(ErrorKind::invalid_argument, [] { read_file(std::string("/dev/null\0x", 11), 10); });
}

TEST(ReadFile, ReadsUpToTheLimit) {
  TempFolder folder;
  const auto path = folder.write("x", "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_EQ(error_of(ErrorKind::bad_format, [&] { read_file(path, 4); }),
            path.string() + ": has 5 bytes or more, expected at most 4");
  EXPECT_EQ(read_file(folder.write("empty", ""), 0), "");
  // Files of /proc say that their size is 0.
  EXPECT_GT(read_file("/proc/self/status", 1 << 20).size(), 100u);
  error_of(ErrorKind::bad_format, [] { read_file("/proc/self/status", 100); });
}

TEST(ReplaceFile, WritesNewAndOldFilesAndLeavesNothingElse) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  replace_file(path, "one");
  EXPECT_EQ(read_file(path, 100), "one");
  replace_file(path, "");
  EXPECT_EQ(read_file(path, 100), "");
  const std::string large(3 << 20, 'x');
  replace_file(path, large);
  EXPECT_EQ(read_file(path, large.size()), large);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(ReplaceFile, PermissionsAreKeptOrFollowTheUmask) {
  TempFolder folder;
  const auto path = folder.write("x", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  replace_file(path, "new");
  EXPECT_EQ(mode_of(path), 0640u);
  const mode_t before = umask(027);
  replace_file(folder.path() / "fresh", "new");
  replace_file(path, "newer");
  umask(before);
  EXPECT_EQ(mode_of(folder.path() / "fresh"), 0640u);
  EXPECT_EQ(mode_of(path), 0640u);
  ASSERT_EQ(chmod(path.c_str(), 0606), 0);
  replace_file(path, "newest");
  EXPECT_EQ(mode_of(path), 0606u);
}

TEST(ReplaceFile, ALinkIsReplacedAndItsTargetIsNot) {
  TempFolder folder;
  const auto target = folder.write("target", "old");
  const auto link = folder.path() / "link";
  fs::create_symlink(target, link);
  replace_file(link, "new");
  EXPECT_FALSE(fs::is_symlink(link));
  EXPECT_EQ(read_file(link, 10), "new");
  EXPECT_EQ(read_file(target, 10), "old");
}

TEST(ReplaceFile, ImpossibleTargetsAreRefused) {
  TempFolder folder;
  const auto lost = folder.path() / "absent/x";
  EXPECT_EQ(error_of(ErrorKind::io, [&] { replace_file(lost, "text"); }),
            lost.string() + ": there is no folder " + lost.parent_path().string() + " to write it to");
  error_of(ErrorKind::io, [&] { replace_file(folder.write("file", "") / "below", "text"); });
  fs::remove(folder.path() / "file");
  fs::create_directory(folder.path() / "directory");
  error_of(ErrorKind::io, [&] { replace_file(folder.path() / "directory", "text"); });
  error_of(ErrorKind::io, [] { replace_file("/dev/null", "text"); });
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, WithoutCommitNothingHappens) {
  TempFolder folder;
  const auto path = folder.write("x", "old");
  {
    AtomicFile file(path);
    file.write("half of the new ve");
    EXPECT_EQ(files_in(folder.path()), 2);
  }
  EXPECT_EQ(read_file(path, 10), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, WritesFollowEachOther) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  AtomicFile file(path);
  file.write("one ");
  file.write("");
  file.write("two");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read_file(path, 10), "one two");
  error_of(ErrorKind::invalid_argument, [&] { file.write("x"); });
  error_of(ErrorKind::invalid_argument, [&] { file.commit(); });
}

TEST(AtomicFile, AFolderThatAppearsAtTheTargetFailsTheCommit) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  AtomicFile file(path);
  file.write("text");
  fs::create_directory(path);
  error_of(ErrorKind::io, [&] { file.commit(); });
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, WritesAgainWithinWhatIsWritten) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  AtomicFile file(path);
  file.write(std::string_view("head and body"));
  file.write_again(0, "HEAD");
  file.write(std::string_view("!"));
  error_of(ErrorKind::invalid_argument, [&] { file.write_again(12, "abc"); });
  error_of(ErrorKind::invalid_argument, [&] { file.write_again(100, ""); });
  file.commit();
  error_of(ErrorKind::invalid_argument, [&] { file.write_again(0, "x"); });
  EXPECT_EQ(read_file(path, 100), "HEAD and body!");
}

// The system refuses to let any file grow beyond 1000 bytes, as a full disk would.
TEST(AtomicFile, AFailedWriteKeepsTheOldFileAndCannotBeCommitted) {
  TempFolder folder;
  const auto path = folder.write("x", "old");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message, later;
  {
    AtomicFile file(path);
    message = error_of(ErrorKind::io, [&] { file.write(std::string(5000, 'x')); });
    later = error_of(ErrorKind::invalid_argument, [&] { file.commit(); });
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(message, path.string() + ": cannot write: File too large");
  EXPECT_EQ(read_file(path, 10), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, AKilledWriterLeavesAWholeVersion) {
  TempFolder folder;
  const auto path = folder.path() / "x";
  const std::string versions[2] = {std::string(300000, 'a'), std::string(200000, 'b')};
  replace_file(path, versions[0]);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) replace_file(path, versions[i % 2]);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5 + 3 * round);
    do {
      const std::string now = read_file(path, 1 << 20);
      ASSERT_TRUE(now == versions[0] || now == versions[1]);
    } while (std::chrono::steady_clock::now() < end);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string left = read_file(path, 1 << 20);
    EXPECT_TRUE(left == versions[0] || left == versions[1]);
  }
}

TEST(JoinInside, JoinsPlainNames) {
  TempFolder folder;
  EXPECT_EQ(join_inside(folder.path(), "model.safetensors"), folder.path() / "model.safetensors");
  EXPECT_EQ(join_inside(folder.path(), "1_Pooling/config.json"), folder.path() / "1_Pooling/config.json");
  EXPECT_EQ(join_inside(folder.path(), "..name/a..b"), folder.path() / "..name/a..b");
}

TEST(JoinInside, RefusesWhatLeadsOut) {
  TempFolder folder;
  for (const std::string bad : {"", "/etc/passwd", "..", "../x", "a/../../x", "a/..", ".", "./", "x/../y"}) {
    error_of(ErrorKind::invalid_argument, [&] { join_inside(folder.path(), bad); });
  }
  error_of(ErrorKind::invalid_argument, [&] { join_inside(folder.path(), std::string_view("a\0b", 3)); });
  error_of(ErrorKind::not_found, [&] { join_inside(folder.path() / "absent", "x"); });
}

TEST(JoinInside, FollowsLinksOnlyInside) {
  TempFolder outside, folder;
  folder.write("real/file", "x");
  outside.write("secret", "x");
  fs::create_directory_symlink(folder.path() / "real", folder.path() / "inner");
  fs::create_directory_symlink(outside.path(), folder.path() / "out");
  fs::create_symlink("../../secret", folder.path() / "real/up");
  fs::create_symlink(outside.path() / "absent", folder.path() / "dangling");
  EXPECT_EQ(read_file(join_inside(folder.path(), "inner/file"), 10), "x");
  for (const char* bad : {"out", "out/secret", "out/new", "inner/up", "dangling"}) {
    error_of(ErrorKind::invalid_argument, [&] { join_inside(folder.path(), bad); });
  }
  // Where links are trusted the name still has to be a plain one.
  EXPECT_EQ(read_file(join_inside(folder.path(), "out/secret", Links::anywhere), 10), "x");
  for (const char* bad : {"", "/etc/passwd", "../x", "out/../x", "."}) {
    error_of(ErrorKind::invalid_argument, [&] { join_inside(folder.path(), bad, Links::anywhere); });
  }
  // A folder whose name starts like ours is not inside it.
  fs::create_directory(folder.path().string() + "-twin");
  fs::create_directory_symlink(folder.path().string() + "-twin", folder.path() / "twin");
  error_of(ErrorKind::invalid_argument, [&] { join_inside(folder.path(), "twin"); });
  fs::remove(folder.path().string() + "-twin");
}

}  // namespace
}  // namespace heed

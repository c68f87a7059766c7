#include "answer_file.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "heed/base/error.h"

namespace heed::cli {
namespace {

// `code` is what errno was; 0: it is not known any more.
[[noreturn]] void fail_to_print(int code) {
  fail(ErrorKind::io, "standard output: cannot write",
       code == 0 ? std::string() : ": " + std::generic_category().message(code), "; answers are missing");
}

}  // namespace

AnswerFile::AnswerFile(const std::string& path) {
  if (path.empty() || path == "-") return;
  if (path.ends_with(".npy")) {
    vectors_.emplace(path);
  } else {
    file_.emplace(path);
  }
}

void AnswerFile::write(std::string_view text) {
  if (file_) return file_->write(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_to_print(errno);
  flush_standard_output();
}

void AnswerFile::commit() {
  if (file_) file_->commit();
  if (vectors_) vectors_->commit();
}

void check_replaces(const std::filesystem::path& file, bool overwrite) {
  std::error_code error;
  HEED_CHECK(overwrite || !std::filesystem::exists(file, error), file.string(),
             ": is there already; choose another output, or give --overwrite to replace it");
}

void flush_standard_output() {
  // std::cout keeps nothing of its own; to flush it would take the reason away.
  if (std::fflush(stdout) != 0) fail_to_print(errno);
  if (std::ferror(stdout) != 0 || !std::cout.good()) fail_to_print(0);
}

}  // namespace heed::cli

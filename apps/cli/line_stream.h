// Lines of standard input, a pipe or a terminal as they come.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/stop.h"

namespace heed::cli {

class LineStream {
 public:
  // "-" is standard input; others are opened.
  LineStream(const std::string& path, StopToken stop);
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  const std::string& name() const { return name_; }
  // The next line without LF, and without a byte order mark; false at the end. Waits for it; throws cancelled if it is
  // to stop.
  bool line(std::string& line);
  // Whether line() need not wait.
  bool ready();

 private:
  bool readable(int milliseconds) const;
  void fill();  // waits for bytes, or the end

  std::string name_, buffer_;
  std::size_t used_ = 0;    // bytes of the buffer that were given out
  std::size_t looked_ = 0;  // bytes of the buffer that have no line end after used_
  int descriptor_;
  bool ended_ = false, first_ = true;
  StopToken stop_;
};

}  // namespace heed::cli

#include "heed/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::detail {
namespace {

constexpr std::size_t kPiece = 1 << 20;

class Unpacker {
 public:
  Unpacker(std::string_view packed, std::string name) : name_(std::move(name)), left_(packed) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    HEED_CHECK_AS(internal, inflateInit2(&stream_, kGzipOnly) == Z_OK, "[gzip] zlib does not start");
  }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Appends up to `piece` bytes; false at the end of the last packed file.
  bool unpack(std::string& text, std::size_t piece) {
    if (left_.empty() && ended_) return false;
    if (ended_) inflateReset(&stream_);
    const std::size_t before = text.size();
    const std::size_t given = std::min<std::size_t>(left_.size(), std::numeric_limits<uInt>::max());
    text.resize(before + piece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream_.avail_out = static_cast<uInt>(piece);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    HEED_CHECK_AS(bad_format, result != Z_BUF_ERROR, name_, ": the packed file ends in the middle: it is not complete");
    HEED_CHECK_AS(bad_format, result == Z_OK || result == Z_STREAM_END, name_,
                  ": is not a gzip file, or damaged: ", stream_.msg ? stream_.msg : "unexpected data",
                  "; gzip -t tells more");
    ended_ = result == Z_STREAM_END;
    left_.remove_prefix(given - stream_.avail_in);
    text.resize(before + piece - stream_.avail_out);
    return true;
  }

 private:
  std::string name_;
  std::string_view left_;
  z_stream stream_{};
  bool ended_ = false;
};

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return extension;
}

}  // namespace

bool is_gzip(const std::filesystem::path& path) {
  return lower_extension(path) == ".gz";
}

std::string format_extension(const std::filesystem::path& path) {
  return lower_extension(is_gzip(path) ? path.stem() : path);
}

std::string read_gzip(const std::filesystem::path& path, std::size_t max_bytes) {
  const MappedFile file(path);
  Unpacker unpacker(file.text(), path.string());
  std::string text;
  while (unpacker.unpack(text, kPiece)) {
    HEED_CHECK_AS(
        bad_format, text.size() <= max_bytes, path.string(), ": has more than ", max_bytes,
        " bytes when unpacked, which is the most that is read; unpack it into a file, which is read in place");
  }
  return text;
}

}  // namespace heed::detail

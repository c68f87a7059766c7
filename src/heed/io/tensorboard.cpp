#include "heed/io/tensorboard.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/crc.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "events.out.tfevents.";

template <class T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

// A protobuf message, field by field.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  Message& real(int field, double value) {
    tag(field, 1);
    append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real32(int field, float value) {
    tag(field, 5);
    append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& reals(int field, const std::vector<double>& values) {
    std::string packed;
    for (const double value : values) append_little_endian(packed, std::bit_cast<std::uint64_t>(value));
    return text(field, packed);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }
  void tag(int field, int kind) { varint(static_cast<std::uint64_t>(field << 3 | kind)); }

  std::string bytes_;
};

// Numbers of fields, as event.proto and summary.proto have them.
namespace field {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;         // Event
constexpr int kValue = 1;                                                                        // Summary
constexpr int kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5;                            // Summary.Value
constexpr int kHeight = 1, kWidth = 2, kColorspace = 3, kEncoded = 4;                            // Summary.Image
constexpr int kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kLimit = 6, kBucket = 7;  // HistogramProto
constexpr int kStatus = 1;                                                                       // SessionLog
}  // namespace field

// Checksums of data that may hold checksums itself are rotated and shifted.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32_castagnoli(bytes), 15) + 0xA282EAD8u;
}

std::string record(const std::string& data) {
  std::string out;
  append_little_endian(out, static_cast<std::uint64_t>(data.size()));
  append_little_endian(out, masked_crc(out));
  out += data;
  append_little_endian(out, masked_crc(data));
  return out;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The time in seconds, which orders the files; a second later than any that is there already.
std::int64_t new_number(const fs::path& folder) {
  auto number = static_cast<std::int64_t>(seconds_now());
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kName)) continue;
    std::int64_t found = 0;
    const char* first = name.data() + kName.size();
    const auto result = std::from_chars(first, name.data() + name.size(), found);
    constexpr std::int64_t kTenDigits = 9'999'999'999;
    if (result.ec == std::errc() && found < kTenDigits) number = std::max(number, found + 1);
  }
  return number;
}

}  // namespace

EventFile::EventFile(const fs::path& folder, std::int64_t first_step) {
  std::error_code error;
  fs::create_directories(folder, error);
  HEED_CHECK_AS(io, !error, folder.string(), ": cannot be made: ", error.message());
  const std::string digits = std::to_string(new_number(folder));
  path_ = folder / (std::string(kName) + digits + ".heed");
  append(0, field::kFileVersion, "brain.Event:2");
  constexpr int kStart = 1;
  append(first_step, field::kSessionLog, Message().number(field::kStatus, kStart).bytes());
}

void EventFile::scalar(std::int64_t step, const std::string& tag, double value) {
  append_summary(step, Message().text(field::kTag, tag).real32(field::kSimpleValue, static_cast<float>(value)).bytes());
}

void EventFile::histogram(std::int64_t step, const std::string& tag, std::span<const float> values) {
  constexpr std::size_t kBuckets = 30;
  double least = INFINITY, most = -INFINITY, number = 0, sum = 0, squares = 0;
  for (const float each : values) {
    if (!std::isfinite(each)) continue;
    const auto value = static_cast<double>(each);
    least = std::min(least, value), most = std::max(most, value);
    ++number, sum += value, squares += value * value;
  }
  if (number == 0) return;
  // Values that are all the same get one bucket around them.
  const double width = most > least ? (most - least) / kBuckets : 1;
  std::vector<double> limits(most > least ? kBuckets : 1), counts(limits.size());
  for (std::size_t i = 0; i < limits.size(); ++i) limits[i] = least + width * static_cast<double>(i + 1);
  for (const float each : values) {
    if (!std::isfinite(each)) continue;
    const auto bucket = static_cast<std::size_t>((static_cast<double>(each) - least) / width);
    ++counts[std::min(bucket, counts.size() - 1)];
  }
  const Message histogram = Message()
                                .real(field::kMin, least)
                                .real(field::kMax, most)
                                .real(field::kNum, number)
                                .real(field::kSum, sum)
                                .real(field::kSumSquares, squares)
                                .reals(field::kLimit, limits)
                                .reals(field::kBucket, counts);
  append_summary(step, Message().text(field::kTag, tag).text(field::kHistogram, histogram.bytes()).bytes());
}

void EventFile::image(std::int64_t step, const std::string& tag, const GreyImage& image) {
  constexpr std::uint64_t kGrey = 1;
  const Message content = Message()
                              .number(field::kHeight, static_cast<std::uint64_t>(image.height))
                              .number(field::kWidth, static_cast<std::uint64_t>(image.width))
                              .number(field::kColorspace, kGrey)
                              .text(field::kEncoded, encode_png(image));
  append_summary(step, Message().text(field::kTag, tag).text(field::kImage, content.bytes()).bytes());
}

void EventFile::append_summary(std::int64_t step, const std::string& value) {
  append(step, field::kSummary, Message().text(field::kValue, value).bytes());
}

void EventFile::append(std::int64_t step, int kind, const std::string& content) {
  const Message event = Message()
                            .real(field::kWallTime, seconds_now())
                            .number(field::kStep, static_cast<std::uint64_t>(step))
                            .text(kind, content);
  errno = 0;
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << record(event.bytes());
  file.close();
  HEED_CHECK_AS(io, file.good(), path_.string(), ": cannot be written: ", std::strerror(errno));
}

}  // namespace heed

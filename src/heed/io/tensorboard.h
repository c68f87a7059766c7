// TensorBoard's event files, written: records of protobuf messages, each with its length and checksums.
//   EventFile events("run/tensorboard", 1);
//   events.scalar(1, "loss", 0.7);
//
// A run that is killed leaves at worst half a record at the end of its file. The resumed run begins a file of its own,
// which says from which step on older events are void; TensorBoard reads all files of a folder in the order of their
// names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "heed/io/png.h"

namespace heed {

class EventFile {
 public:
  // Makes the folder and in it a file whose name sorts after those there. Events of `first_step` and later ones in
  // older files are void.
  EventFile(const std::filesystem::path& folder, std::int64_t first_step);

  // Tags are paths: "dev/accuracy". Each call appends one event; errors are io and name the file.
  void scalar(std::int64_t step, const std::string& tag, double value);
  // Of all values, in buckets of equal width; those that are not finite are left out.
  void histogram(std::int64_t step, const std::string& tag, std::span<const float> values);
  void image(std::int64_t step, const std::string& tag, const GreyImage& image);

  const std::filesystem::path& path() const { return path_; }

 private:
  // `kind` is the number of the field of Event that `content` is.
  void append(std::int64_t step, int kind, const std::string& content);
  void append_summary(std::int64_t step, const std::string& value);

  std::filesystem::path path_;
};

}  // namespace heed

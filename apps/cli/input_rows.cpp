#include "input_rows.h"

#include <sys/stat.h>

#include <filesystem>

#include "heed/data/gzip.h"
#include "input_lines.h"
#include "input_table.h"

namespace heed::cli {
namespace {

std::string format_of(const std::filesystem::path& path) {
  const std::string extension = detail::format_extension(path);
  if (extension == ".txt") return "lines";
  if (extension == ".jsonl" || extension == ".ndjson" || extension == ".json") return "jsonl";
  if (extension == ".csv" || extension == ".tsv") return extension.substr(1);
  return "";
}

bool is_stream(const std::string& path) {
  struct stat status;
  return path == "-" || (::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)));
}

}  // namespace

std::string InputLine::text_of(const std::string& name) const {
  return fields.is_null() ? text : json_required<std::string>(fields, name, where);
}

bool names_input(const std::string& text) {
  struct stat status;
  return !format_of(text).empty() && ::stat(text.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::unique_ptr<InputRows> open_input(const std::string& path, const InputFormat& format, const StopToken& stop) {
  InputFormat chosen = format;
  if (chosen.name.empty()) chosen.name = format_of(path);
  const bool quoted = chosen.name == "csv", table = quoted || chosen.name == "tsv";
  if (!is_stream(path)) return table ? table_of_file(path, quoted, chosen) : lines_of_file(path, chosen);
  auto stream = std::make_unique<LineStream>(path, stop);
  return table ? table_of_stream(std::move(stream), quoted, chosen) : lines_of_stream(std::move(stream), chosen);
}

}  // namespace heed::cli

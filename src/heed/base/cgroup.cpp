// The CPU quota of the cgroup this process is in. Version 2 has one tree with cpu.max ("QUOTA PERIOD" or "max PERIOD",
// in microseconds); version 1 has a tree of its own for the cpu controller with cpu.cfs_quota_us (-1: none) and
// cpu.cfs_period_us. A machine may have both. Where a tree is mounted, and which part of it, is in mountinfo.
#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/cpu.h"
#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string read_or_empty(const fs::path& path) {
  try {
    return read_file(path, 16 << 20);
  } catch (const Error&) {  // no file, no limit
    return "";
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool lists(const std::string& text, std::string_view word) {
  const auto words = split(text, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Mount {
  bool version2;
  fs::path root;   // the part of the tree that is mounted
  fs::path point;  // where
};

// Blanks in mountinfo paths are written \040 and so on.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// A line: id parent device root point options [optional fields] - type source super_options
std::vector<Mount> cgroup_mounts(const std::string& mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string& line : split(mountinfo, '\n')) {
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    const bool version2 = dash[1] == "cgroup2";
    if (version2 || (dash[1] == "cgroup" && lists(dash[3], "cpu"))) {
      mounts.push_back({version2, unescape(words[3]), unescape(words[4])});
    }
  }
  return mounts;
}

// The path of our cgroup in the tree of version 2 or of the cpu controller. A line: id:controllers:path
std::optional<fs::path> own_cgroup(const std::string& cgroup, bool version2) {
  for (const std::string& line : split(cgroup, '\n')) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool ours = version2 ? line.starts_with("0::") : lists(controllers, "cpu");
    if (ours) return line.substr(second + 1);
  }
  return std::nullopt;
}

// quota / period in CPUs; 0 for "max", a negative quota and whatever is not two positive numbers.
double ratio(const std::string& text) {
  std::istringstream words(text);
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

double quota_of(const fs::path& folder, bool version2) {
  if (version2) return ratio(read_or_empty(folder / "cpu.max"));
  return ratio(read_or_empty(folder / "cpu.cfs_quota_us") + " " + read_or_empty(folder / "cpu.cfs_period_us"));
}

}  // namespace

double detail::cgroup_quota(const fs::path& root) {
  const std::string cgroup = read_or_empty(root / "proc/self/cgroup");
  double tightest = 0;
  for (const Mount& mount : cgroup_mounts(read_or_empty(root / "proc/self/mountinfo"))) {
    const auto own = own_cgroup(cgroup, mount.version2);
    if (!own) continue;
    // Inside a container the tree may be mounted from our own cgroup on; then nothing above it can be seen.
    fs::path below = own->lexically_relative(mount.root);
    if (below.empty() || *below.begin() == "..") below = ".";
    fs::path folder = root / mount.point.relative_path();
    std::vector<fs::path> folders = {folder};
    for (const fs::path& part : below) folders.push_back(folder /= part);
    for (const fs::path& each : folders) {
      const double quota = quota_of(each, mount.version2);
      if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
    }
  }
  return tightest;
}

}  // namespace heed

#include "tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "heed/base/utf8.h"
#include "notes.h"

namespace heed::cli {
namespace {

constexpr std::size_t kMostRows = 20;
constexpr int kHalf = 10;  // characters of a bar on either side

std::string bar(double value, double largest) {
  const int length =
      largest > 0 ? static_cast<int>(std::lround(std::abs(value) / largest * static_cast<double>(kHalf))) : 0;
  std::string left, right;
  for (int i = 0; i < kHalf; ++i) {
    left += value < 0 && i >= kHalf - length ? "█" : " ";
    right += value > 0 && i < length ? "█" : " ";
  }
  return left + "│" + right;
}

// At least this many columns wide.
std::string padded(std::string text, std::size_t width) {
  const std::size_t characters = utf8_length(text);
  if (characters < width) text.append(width - characters, ' ');
  return text;
}

}  // namespace

void print_shares(std::string_view title, const std::vector<ShareColumn>& columns, std::span<const TextWord> words) {
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return std::abs(columns[0].values[i]); });
  order.resize(std::min(order.size(), kMostRows));
  std::size_t width = title.size();
  for (const std::size_t i : order) width = std::max(width, utf8_length(words[i].text));
  fmt::print("  {}", padded(std::string(title), width));
  for (const ShareColumn& column : columns) fmt::print("  {:>9} {}", column.title, std::string(2 * kHalf + 1, ' '));
  fmt::print("\n");
  for (const std::size_t i : order) {
    fmt::print("  {}", padded(words[i].text, width));
    for (const ShareColumn& column : columns) {
      double largest = 0;
      for (const double value : column.values) largest = std::max(largest, std::abs(value));
      fmt::print("  {:>+9.4f} {}", column.values[i], bar(column.values[i], largest));
    }
    fmt::print("\n");
  }
}

std::string folder_name(const std::string& path) {
  const auto whole = std::filesystem::path(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

void note_cut(const std::string& which, const ReadText& text) {
  if (text.cut) note(fmt::format("{} was cut at {} tokens: the model reads no more", which, text.tokens.size()));
}

}  // namespace heed::cli

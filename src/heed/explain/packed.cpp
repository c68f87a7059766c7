#include "heed/explain/packed.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::int64_t kCharactersOfLink = 5;

// The level of a share in [0, 1] whose square root is kept.
std::size_t level(float share, std::size_t most) {
  const float root = std::sqrt(std::clamp(share, 0.0F, 1.0F));
  return static_cast<std::size_t>(root * static_cast<float>(most) + 0.5F);
}

// Row number `row` of cells: each the largest weight of its block.
void largest_of_blocks(const Tensor& weights, std::int64_t block, std::int64_t row, std::vector<float>& cells) {
  const std::int64_t n = weights.size(0);
  std::ranges::fill(cells, 0.0F);
  for (std::int64_t i = row * block; i < std::min(n, (row + 1) * block); ++i) {
    const float* first = weights.data<float>() + i * n;
    for (std::int64_t j = 0; j < n; ++j) {
      float& cell = cells[static_cast<std::size_t>(j / block)];
      cell = std::max(cell, first[j]);
    }
  }
}

}  // namespace

PageLayout::PageLayout(std::int64_t token_count, std::int64_t head_count, std::int64_t known_links)
    : tokens(token_count), block(1), links(known_links) {
  HEED_CHECK(tokens > 0 && head_count > 0 && links > 0, "[PageLayout] ", tokens, " tokens, ", head_count, " heads, ",
             links, " links");
  HEED_CHECK(tokens < 64 * 64 * 64, "[PageLayout] ", tokens, " tokens, a page takes fewer than ", 64 * 64 * 64);
  while (side() * side() * head_count > kMapCells) ++block;
  links = std::clamp<std::int64_t>(kLinkCharacters / (kCharactersOfLink * tokens * head_count), 1, known_links);
}

std::string packed_map(const Tensor& weights, std::int64_t block) {
  HEED_CHECK(weights.rank() == 2 && weights.size(0) == weights.size(1) && weights.is_contiguous() && block > 0,
             "[packed_map] weights ", weights.shape(), ", expected [n, n], in blocks of ", block);
  const std::int64_t side = (weights.size(0) + block - 1) / block;
  std::string text(static_cast<std::size_t>(side * side), kAlphabet[0]);
  parallel_for(side, 8, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> cells(static_cast<std::size_t>(side));
    for (std::int64_t row = begin; row < end; ++row) {
      largest_of_blocks(weights, block, row, cells);
      const float most = *std::ranges::max_element(cells);
      if (!(most > 0)) continue;
      char* out = text.data() + row * side;
      for (const float cell : cells) *out++ = kAlphabet[level(cell / most, 63)];
    }
  });
  return text;
}

std::string packed_links(const Tensor& keys, const Tensor& weights, std::int64_t head, std::int64_t links) {
  const std::int64_t n = keys.size(0), heads = keys.size(1), known = keys.size(2);
  HEED_CHECK(head >= 0 && head < heads && links <= known, "[packed_links] head ", head, ", ", links, " links of ",
             keys.shape());
  std::string text;
  text.reserve(static_cast<std::size_t>(n * links * kCharactersOfLink));
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t i = 0; i < links; ++i) {
      const std::int64_t at = (row * heads + head) * known + i;
      const std::int64_t key = keys.data<std::int64_t>()[at];
      const std::size_t weight = key < 0 ? 0 : level(weights.data<float>()[at], 4095);
      const auto place = static_cast<std::size_t>(std::max<std::int64_t>(key, 0));
      for (const std::size_t six : {place / 4096, place / 64, place, weight / 64, weight}) {
        text.push_back(kAlphabet[six % 64]);
      }
    }
  }
  return text;
}

}  // namespace heed

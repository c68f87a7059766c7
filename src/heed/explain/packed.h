// Attention as text for pages (web/data.js reads it). Characters are those of base64, six bits each.
#pragma once

#include <cstdint>
#include <string>

#include "heed/tensor/tensor.h"

namespace heed {

// How much of the attention of a text a page carries. Every head has its largest links and a map. The maps of all heads
// together have at most kMapCells cells: if the tokens are too many for that, a cell stands for block x block of them.
struct PageLayout {
  static constexpr std::int64_t kMapCells = 24'000'000, kLinkCharacters = 12'000'000, kFullCells = 20'000'000;

  PageLayout(std::int64_t token_count, std::int64_t head_count, std::int64_t known_links);

  std::int64_t tokens, block, links;
  std::int64_t side() const { return (tokens + block - 1) / block; }
  // How many heads can be carried in full besides, where a cell stands for several tokens.
  std::int64_t full_heads() const { return kFullCells / (tokens * tokens); }
};

// weights [n, n] as side x side characters: level l of a row of cells with the largest weight m stands for m (l /
// 63)^2. A cell is the largest weight of its block.
std::string packed_map(const Tensor& weights, std::int64_t block);

// The first `links` of keys and weights [n, H, known] of one head, five characters each: three of the key, two of the
// level l of its weight, (l / 4095)^2. No link: weight 0.
std::string packed_links(const Tensor& keys, const Tensor& weights, std::int64_t head, std::int64_t links);

}  // namespace heed

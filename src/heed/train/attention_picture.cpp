#include "heed/train/attention_picture.h"

#include <algorithm>
#include <cmath>

namespace heed {

std::vector<double> mean_entropies(const LayerAttention& layer) {
  const Tensor entropy = layer.entropy.detached_contiguous();
  const std::int64_t queries = entropy.size(0), heads = entropy.size(1);
  const float* values = entropy.data<float>();
  std::vector<double> means(static_cast<std::size_t>(heads), 0);
  for (std::int64_t i = 0; i < queries * heads; ++i) {
    means[static_cast<std::size_t>(i % heads)] += static_cast<double>(values[i]) / static_cast<double>(queries);
  }
  return means;
}

GreyImage attention_picture(std::span<const LayerAttention> layers, std::int64_t tokens) {
  constexpr std::int64_t kBorder = 1;
  constexpr std::uint8_t kBorderGrey = 96;
  if (layers.empty() || tokens == 0) return {};
  const std::int64_t heads = layers[0].link_keys.size(1), links = layers[0].link_keys.size(2), side = tokens + kBorder;
  GreyImage image{.width = heads * side + kBorder, .height = std::ssize(layers) * side + kBorder};
  image.pixels.assign(static_cast<std::size_t>(image.width * image.height), kBorderGrey);
  for (std::int64_t layer = 0; layer < std::ssize(layers); ++layer) {
    const Tensor keys = layers[static_cast<std::size_t>(layer)].link_keys.detached_contiguous(),
                 weights = layers[static_cast<std::size_t>(layer)].link_weights.detached_contiguous();
    for (std::int64_t cell = 0; cell < tokens * heads; ++cell) {
      const std::int64_t query = cell / heads, head = cell % heads;
      const auto row = image.pixels.begin() + (layer * side + kBorder + query) * image.width + head * side + kBorder;
      std::fill(row, row + tokens, std::uint8_t{0});
      for (std::int64_t link = cell * links; link < (cell + 1) * links; ++link) {
        const std::int64_t key = keys.data<std::int64_t>()[link];
        const float weight = std::clamp(weights.data<float>()[link], 0.0F, 1.0F);
        if (key >= 0 && key < tokens) row[key] = static_cast<std::uint8_t>(std::lround(255 * weight));
      }
    }
  }
  return image;
}

}  // namespace heed

// The non-local block (Wang et al. 2018, https://arxiv.org/abs/1711.07971): attention over the positions of a sequence
// or of a grid, put into a network of any kind.
//   y_i = 1/C sum_j f(x_i, x_j) g(x_j)      z_i = W_z y_i + x_i
// W_z starts as zero, so that the block starts as the identity.
#pragma once

#include <optional>
#include <span>

#include "heed/nn/layers.h"
#include "heed/tensor/packed.h"

namespace heed {

enum class NonLocalKind {
  embedded_gaussian,  // f = exp(theta(x_i) . phi(x_j)), C the sum over j: softmax attention with scale 1
  dot_product,        // f = theta(x_i) . phi(x_j), C the number of positions j; costs no n x n products
};

struct NonLocalConfig {
  std::int64_t channels = 0;
  std::int64_t inter_channels = 0;  // of theta, phi and g; 0: half the channels
  NonLocalKind kind = NonLocalKind::embedded_gaussian;
  // phi and g are the largest values of windows of 2 (along a sequence) or 2 x 2 positions (of a grid). Windows at the
  // end of an odd side are smaller; no position is left out.
  bool subsample = false;
};

// A grid, its rows end to end; a sequence is a grid of height 1.
struct Grid {
  std::int64_t height = 1, width = 0;
};

class NonLocalBlock : public Module {
 public:
  explicit NonLocalBlock(const NonLocalConfig& config);
  // x [N, channels], sequence b being grids[b]; without grids sequences are one-dimensional. Returns [N, channels].
  Tensor forward(const Packed& x, const Context& context, std::span<const Grid> grids = {}) const;
  void visit(Visitor& visitor) const override;

 private:
  NonLocalConfig config_;
  Linear theta_, phi_, g_, output_;
};

// The largest value of each channel in windows of 2 (height 1) or 2 x 2 positions, row by row.
Packed max_pool_grids(const Packed& x, std::span<const Grid> grids);

}  // namespace heed

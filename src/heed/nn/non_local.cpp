#include "heed/nn/non_local.h"

#include <vector>

#include "heed/attention/attend.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

NonLocalConfig completed(NonLocalConfig config) {
  HEED_CHECK(config.channels > 0, "[NonLocalBlock] ", config.channels, " channels");
  if (config.inter_channels == 0) config.inter_channels = std::max<std::int64_t>(1, config.channels / 2);
  return config;
}

void check_grids(const Offsets& offsets, std::span<const Grid> grids) {
  HEED_CHECK(static_cast<std::int64_t>(grids.size()) == offsets.sequences(), "[NonLocalBlock] ", grids.size(),
             " grids for ", offsets.sequences(), " sequences");
  for (std::int64_t b = 0; b < offsets.sequences(); ++b) {
    const Grid& grid = grids[static_cast<std::size_t>(b)];
    HEED_CHECK(grid.height > 0 && grid.width >= 0 && grid.height * grid.width == offsets.length(b),
               "[NonLocalBlock] grid ", grid.height, " x ", grid.width, " for a sequence of ", offsets.length(b));
  }
}

Tensor softmax_sums(const Tensor& theta, const Packed& phi, const Tensor& g, const Offsets& queries) {
  auto one_head = [](const Tensor& x) { return reshape(x, {x.size(0), 1, x.size(1)}); };
  const Tensor y = attend({.q = one_head(theta),
                           .k = one_head(phi.values),
                           .v = one_head(g),
                           .queries = queries,
                           .keys = phi.offsets,
                           .scale = 1});
  return reshape(y, {y.size(0), y.size(2)});
}

// Without a softmax products associate: theta (phi^T g) / n.
Tensor product_sums(const Tensor& theta, const Packed& phi, const Tensor& g, const Offsets& queries) {
  std::vector<Tensor> parts;
  for (std::int64_t b = 0; b < queries.sequences(); ++b) {
    const std::int64_t begin = phi.offsets.begin(b), end = phi.offsets.end(b);
    if (begin == end) continue;
    const Tensor products = matmul(transpose(slice(phi.values, 0, begin, end), 0, 1), slice(g, 0, begin, end));
    const Tensor sums = matmul(slice(theta, 0, queries.begin(b), queries.end(b)), products);
    parts.push_back(scale(sums, 1 / static_cast<double>(end - begin)));
  }
  return parts.empty() ? Tensor::zeros({0, g.size(1)}, g.dtype()) : concat(parts, 0);
}

}  // namespace

Packed max_pool_grids(const Packed& x, std::span<const Grid> grids) {
  check_grids(x.offsets, grids);
  std::vector<std::int64_t> order, windows, lengths;  // tokens window by window
  for (std::int64_t b = 0; b < x.offsets.sequences(); ++b) {
    const Grid& grid = grids[static_cast<std::size_t>(b)];
    lengths.push_back((grid.height + 1) / 2 * ((grid.width + 1) / 2));
    for (std::int64_t row = 0; row < grid.height; row += 2) {
      for (std::int64_t column = 0; column < grid.width; column += 2) {
        const std::size_t before = order.size();
        for (std::int64_t i = row; i < std::min(row + 2, grid.height); ++i) {
          for (std::int64_t j = column; j < std::min(column + 2, grid.width); ++j) {
            order.push_back(x.offsets.begin(b) + i * grid.width + j);
          }
        }
        windows.push_back(static_cast<std::int64_t>(order.size() - before));
      }
    }
  }
  const Tensor tokens = take_rows(x.values, Tensor::from(order, {static_cast<std::int64_t>(order.size())}));
  return Packed(pool(Packed(tokens, Offsets(std::span<const std::int64_t>(windows))), PoolKind::max),
                Offsets(std::span<const std::int64_t>(lengths)));
}

NonLocalBlock::NonLocalBlock(const NonLocalConfig& config)
    : config_(completed(config)),
      theta_(config_.channels, config_.inter_channels),
      phi_(config_.channels, config_.inter_channels),
      g_(config_.channels, config_.inter_channels),
      output_(config_.inter_channels, config_.channels, true, Initializer::zeros()) {}

Tensor NonLocalBlock::forward(const Packed& x, const Context& context, std::span<const Grid> grids) const {
  std::vector<Grid> lines;
  if (grids.empty()) {
    for (std::int64_t b = 0; b < x.offsets.sequences(); ++b) lines.push_back({1, x.offsets.length(b)});
    grids = lines;
  }
  check_grids(x.offsets, grids);
  Packed phi(phi_.forward(x.values), x.offsets), g(g_.forward(x.values), x.offsets);
  if (config_.subsample) {
    phi = max_pool_grids(phi, grids);
    g = max_pool_grids(g, grids);
  }
  const Tensor theta = theta_.forward(x.values);
  const Tensor y = config_.kind == NonLocalKind::embedded_gaussian ? softmax_sums(theta, phi, g.values, x.offsets)
                                                                   : product_sums(theta, phi, g.values, x.offsets);
  const Tensor z = output_.forward(y, Activation::none, x.values);
  context.tap(Tap::Kind::hidden, z);
  return z;
}

void NonLocalBlock::visit(Visitor& visitor) const {
  visitor.child("theta", theta_);
  visitor.child("phi", phi_);
  visitor.child("g", g_);
  visitor.child("W_z", output_);
}

}  // namespace heed

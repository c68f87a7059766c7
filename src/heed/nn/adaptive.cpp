#include "heed/nn/adaptive.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/normalize.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

AdaptiveConfig checked(const AdaptiveConfig& config) {
  HEED_CHECK(config.vocab_size > 0 && config.hidden_size > 0 && config.divisor > 0, "[AdaptiveConfig] ",
             config.vocab_size, " words, hidden size ", config.hidden_size, ", divisor ", config.divisor);
  for (std::size_t i = 0; i < config.clusters(); ++i) {
    HEED_CHECK(config.end(i) > config.begin(i) && config.cluster_width(i) > 0, "[AdaptiveConfig] cluster ", i,
               " has words ", config.begin(i), " to ", config.end(i), " of width ", config.cluster_width(i));
  }
  return config;
}

}  // namespace

std::int64_t AdaptiveConfig::cluster_width(std::size_t cluster) const {
  std::int64_t size = width;
  for (std::size_t i = 0; i < cluster; ++i) size /= divisor;
  return size;
}

// ---- embedding

AdaptiveEmbedding::AdaptiveEmbedding(const AdaptiveConfig& config) : config_(checked(config)) {
  for (std::size_t i = 0; i < config.tables(); ++i) {
    const std::int64_t words = config.tables() == 1 ? config.vocab_size : config.end(i) - config.begin(i);
    tables_.emplace_back(words, config.cluster_width(i), config.initializer);
    if (!config.projects()) continue;
    projections_.emplace_back(config.cluster_width(i), config.hidden_size, false, config.projection_initializer);
  }
}

Tensor AdaptiveEmbedding::vectors(std::size_t table, const Tensor& ids) const {
  const Tensor rows = tables_[table].forward(ids);
  return config_.projects() ? projections_[table].forward(rows) : rows;
}

Tensor AdaptiveEmbedding::forward(const Tensor& ids) const {
  const double factor = std::sqrt(static_cast<double>(config_.hidden_size));
  if (tables_.size() == 1) return scale(vectors(0, ids), factor);
  HEED_CHECK(ids.defined() && ids.rank() == 1, "[AdaptiveEmbedding] ids ", ids.shape(), ", expected [N]");
  const Tensor all = ids.detached_to(DType::i64).detached_contiguous();
  const auto* id = all.data<std::int64_t>();
  std::vector<Tensor> parts;
  std::vector<std::int64_t> place(static_cast<std::size_t>(all.count()), -1);
  std::int64_t placed = 0;
  for (std::size_t cluster = 0; cluster < config_.clusters(); ++cluster) {
    std::vector<std::int64_t> own;
    for (std::int64_t i = 0; i < all.count(); ++i) {
      if (id[i] < config_.begin(cluster) || id[i] >= config_.end(cluster)) continue;
      own.push_back(id[i] - config_.begin(cluster));
      place[static_cast<std::size_t>(i)] = placed++;
    }
    if (!own.empty()) parts.push_back(vectors(cluster, Tensor::from(own, {std::ssize(own)})));
  }
  HEED_CHECK(placed == all.count(), "[AdaptiveEmbedding] an id outside 0..", config_.vocab_size - 1);
  if (parts.empty()) return Tensor::zeros({0, config_.hidden_size}, tables_[0].weight.dtype());
  return scale(take_rows(concat(parts, 0), Tensor::from(place, {placed})), factor);
}

void AdaptiveEmbedding::visit(Visitor& visitor) const {
  for (std::size_t i = 0; i < tables_.size(); ++i) visitor.child("table", i, tables_[i]);
  for (std::size_t i = 0; i < projections_.size(); ++i) visitor.child("projection", i, projections_[i]);
}

// ---- softmax

AdaptiveSoftmax::AdaptiveSoftmax(const AdaptiveConfig& config, const AdaptiveEmbedding& words)
    : config_(checked(config)) {
  for (std::size_t i = 0; i < config.tables(); ++i) {
    const std::int64_t rows = config.tables() == 1 ? config.vocab_size : config.end(i) - config.begin(i);
    outputs_.emplace_back(config.cluster_width(i), rows, true, config.initializer);
    if (config.tied) outputs_.back().tie(words.tables()[i]);
  }
  for (std::size_t i = 0; i < config.softmax_projections(); ++i) {
    projections_.push_back(config.ties_projection(i)
                               ? words.projection(config.tables() == 1 ? 0 : i)
                               : Weight(zero_parameter({config.hidden_size, config.cluster_width(i)})));
  }
  if (config.clusters() > 1) {
    const auto others = static_cast<std::int64_t>(config.cutoffs.size());
    cluster_.emplace(config.width, others, true, config.initializer);
  }
}

Tensor AdaptiveSoftmax::projected(const Tensor& x, std::size_t cluster) const {
  return projections_.empty() ? x : linear_transposed(x, projections_[cluster]);
}

Tensor AdaptiveSoftmax::word_scores(const Tensor& x, std::size_t cluster) const {
  if (outputs_.size() == config_.clusters()) return outputs_[cluster].forward(x);
  const std::int64_t begin = config_.begin(cluster), end = config_.end(cluster);
  const Linear& all = outputs_.front();
  return linear(x, all.weight.rows(begin, end), slice(all.bias, 0, begin, end));
}

Tensor AdaptiveSoftmax::forward(const Tensor& x) const {
  const Tensor first = projected(x, 0);
  const Tensor words = word_scores(first, 0);
  if (!cluster_) return log_softmax(words);
  const std::vector<Tensor> both = {words, cluster_->forward(first)};
  const Tensor common = log_softmax(concat(both, 1));
  const std::int64_t shortlist = config_.end(0);
  std::vector<Tensor> parts = {slice(common, 1, 0, shortlist)};
  for (std::size_t i = 1; i < config_.clusters(); ++i) {
    const auto column = shortlist + static_cast<std::int64_t>(i) - 1;
    parts.push_back(add(log_softmax(word_scores(projected(x, i), i)), slice(common, 1, column, column + 1)));
  }
  return concat(parts, 1);
}

void AdaptiveSoftmax::visit(Visitor& visitor) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) visitor.child("output", i, outputs_[i]);
  for (std::size_t i = 0; i < projections_.size(); ++i) {
    visitor.weight("projection." + std::to_string(i), projections_[i], config_.projection_initializer);
  }
  if (cluster_) visitor.child("cluster", *cluster_);
}

}  // namespace heed

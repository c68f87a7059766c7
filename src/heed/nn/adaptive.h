// Adaptive embeddings and softmax (Grave et al. 2017, Baevski & Auli 2019, and Transformer-XL): words are ordered by
// frequency and cut into clusters, and the rarer a cluster the narrower its vectors.
//
// The probability of a word of the first cluster stands in the first softmax; that of another is the probability of its
// cluster, which the first softmax has too, times that of the word in the softmax of its cluster.
//
// Legend: N tokens, V words, C hidden size.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "heed/nn/layers.h"

namespace heed {

struct AdaptiveConfig {
  std::int64_t vocab_size = 0, hidden_size = 0;
  std::int64_t width = 0;                // of the first cluster's vectors
  std::vector<std::int64_t> cutoffs{};   // the first word of every cluster but the first, ascending
  std::int64_t divisor = 1;              // of the width from a cluster to the next; 1: one table for all
  bool tied = true;                      // the softmax has the tables of the embedding
  std::vector<bool> tied_projections{};  // likewise, per cluster; empty: none
  Initializer initializer = Initializer::normal(0.02), projection_initializer = Initializer::normal(0.01);

  std::size_t clusters() const { return cutoffs.size() + 1; }
  std::int64_t begin(std::size_t cluster) const { return cluster == 0 ? 0 : cutoffs[cluster - 1]; }
  std::int64_t end(std::size_t cluster) const { return cluster < cutoffs.size() ? cutoffs[cluster] : vocab_size; }
  std::int64_t cluster_width(std::size_t cluster) const;
  std::size_t tables() const { return divisor == 1 ? 1 : clusters(); }
  // Vectors of one table that are as wide as the model are not projected.
  bool projects() const { return divisor != 1 || width != hidden_size; }
  std::size_t projections() const { return projects() ? tables() : 0; }  // of the embedding
  std::size_t softmax_projections() const { return projects() ? clusters() : 0; }
  bool ties_projection(std::size_t cluster) const {
    return projects() && cluster < tied_projections.size() && tied_projections[cluster];
  }
};

// ids [N] to [N, C]: the words' vectors, projected to the hidden size, times its root.
class AdaptiveEmbedding : public Module {
 public:
  explicit AdaptiveEmbedding(const AdaptiveConfig& config);
  Tensor forward(const Tensor& ids) const;
  std::span<const Embedding> tables() const { return tables_; }
  const Weight& projection(std::size_t table) const { return projections_[table].weight; }
  // "table.<i>", "projection.<i>": weights [C, width].
  void visit(Visitor& visitor) const override;

 private:
  Tensor vectors(std::size_t table, const Tensor& ids) const;

  AdaptiveConfig config_;
  std::vector<Embedding> tables_;
  std::deque<Linear> projections_;
};

// [N, C] to log-probabilities [N, V].
class AdaptiveSoftmax : public Module {
 public:
  // Tied as the config says.
  AdaptiveSoftmax(const AdaptiveConfig& config, const AdaptiveEmbedding& words);
  Tensor forward(const Tensor& x) const;
  // "output.<i>", "projection.<i>" [C, width], "cluster": one row for every cluster but the first.
  void visit(Visitor& visitor) const override;

 private:
  Tensor projected(const Tensor& x, std::size_t cluster) const;
  Tensor word_scores(const Tensor& x, std::size_t cluster) const;

  AdaptiveConfig config_;
  std::deque<Linear> outputs_;       // per table
  std::vector<Weight> projections_;  // [C, width], as those of the embedding that they may be
  std::optional<Linear> cluster_;
};

}  // namespace heed

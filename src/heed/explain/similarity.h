// Why two texts are alike: their cosine taken apart into what tokens and words add to it.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "heed/explain/attribution.h"

namespace heed {

struct SimilarityExplanation {
  std::array<ReadText, 2> texts{};
  SentenceEmbedding::Pooling pooling = SentenceEmbedding::Pooling::mean;
  double cosine = 0;
  // Mean pooling: f64 [n, m], what tokens i of the first and j of the second text add. Exact, since with mean vectors
  // a = sum t_i / n and b = sum u_j / m the cosine is sum_ij <t_i, u_j> / (n m |a| |b|): the sum is the cosine.
  Tensor matrix{};
  // Other poolings: integrated gradients of the cosine over each text's words, the other text's vector kept.
  std::optional<std::array<Attribution, 2>> attributions{};

  // What the tokens of text 0 or 1 add: sums of rows or columns, or the attribution.
  std::vector<double> token_sums(std::size_t text) const;
  // The matrix summed over words, [words of 0, words of 1].
  Tensor word_matrix() const;
};

SimilarityExplanation explain_similarity(const LoadedModel& model, const std::string& a, const std::string& b,
                                         const EmbedOptions& options = {});

}  // namespace heed

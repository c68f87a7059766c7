#include "heed/explain/similarity.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// |sum of the rows|, in f64.
double length_of_sum(const Tensor& rows) {
  double squares = 0;
  for (std::int64_t c = 0; c < rows.size(1); ++c) {
    double sum = 0;
    for (std::int64_t t = 0; t < rows.size(0); ++t)
      sum += static_cast<double>(rows.data<float>()[t * rows.size(1) + c]);
    squares += sum * sum;
  }
  return std::sqrt(squares);
}

std::span<const float> row(const Tensor& x, std::int64_t i) {
  return {x.data<float>() + i * x.size(1), static_cast<std::size_t>(x.size(1))};
}

// <t_i, u_j> / (|sum t| |sum u|): n and m cancel out.
Tensor products(const Tensor& t, const Tensor& u) {
  const std::int64_t n = t.size(0), m = u.size(0);
  const double lengths = length_of_sum(t) * length_of_sum(u);
  Tensor matrix = Tensor::zeros({n, m}, DType::f64);
  double* out = matrix.mutable_data<double>();
  if (lengths > 0) {
    parallel_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = 0; j < m; ++j) {
          out[i * m + j] = dot(row(t, i), row(u, j)) / lengths;
        }
      }
    });
  }
  return matrix;
}

Tensor hidden_states(const LoadedModel& model, const ReadText& text) {
  const NoGrad no_grad;
  return model.model().encode(repeated_input(model, text.encoding, 1), Context());
}

}  // namespace

std::vector<double> SimilarityExplanation::token_sums(std::size_t text) const {
  HEED_CHECK(text < 2, "[token_sums] text ", text, " of 2");
  if (attributions) return (*attributions)[text].tokens;
  std::vector<double> sums(texts[text].tokens.size(), 0);
  const auto m = static_cast<std::size_t>(matrix.size(1));
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.count()); ++i) {
    sums[text == 0 ? i / m : i % m] += matrix.data<double>()[i];
  }
  return sums;
}

Tensor SimilarityExplanation::word_matrix() const {
  HEED_CHECK(matrix.defined(), "[word_matrix] only mean pooling has a matrix");
  const auto& rows = texts[0].words;
  const auto& columns = texts[1].words;
  Tensor merged =
      Tensor::zeros({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns.size())}, DType::f64);
  double* out = merged.mutable_data<double>();
  const auto m = static_cast<std::size_t>(matrix.size(1));
  for (const TextWord& row : rows) {
    for (const TextWord& column : columns) {
      double sum = 0;
      for (std::size_t i = row.first; i < row.first + row.count; ++i) {
        for (std::size_t j = column.first; j < column.first + column.count; ++j) {
          sum += matrix.data<double>()[i * m + j];
        }
      }
      *out++ = sum;
    }
  }
  return merged;
}

SimilarityExplanation explain_similarity(const LoadedModel& model, const std::string& a, const std::string& b,
                                         const EmbedOptions& options) {
  EmbedPlan plan(model.setup(), options);
  plan.skipped_tokens = 0;  // all tokens are shown, and add up
  SimilarityExplanation result{.pooling = plan.pooling};
  const std::array<const std::string*, 2> given = {&a, &b};
  std::array<Tensor, 2> hidden, vectors;  // [n, C], [1, C]
  for (std::size_t i = 0; i < 2; ++i) {
    result.texts[i] = read_text(model, TextInput(plan.prompt + *given[i]), plan.max_tokens);
    HEED_CHECK(!result.texts[i].tokens.empty(), "[explain_similarity] text ", i + 1, " has no tokens");
    hidden[i] = hidden_states(model, result.texts[i]);
    vectors[i] = plan.pool(hidden[i], Offsets{hidden[i].size(0)});
  }
  const auto first = row(vectors[0], 0), second = row(vectors[1], 0);
  const double lengths = std::sqrt(dot(first, first) * dot(second, second));
  result.cosine = lengths > 0 ? dot(first, second) / lengths : 0;
  if (plan.pooling == SentenceEmbedding::Pooling::mean) {
    result.matrix = products(hidden[0], hidden[1]);
  } else {
    result.attributions.emplace();
    for (std::size_t i = 0; i < 2; ++i) {
      (*result.attributions)[i] =
          integrated_gradients(model, result.texts[i].encoding,
                               cosine_score(model, plan, vectors[1 - i].detached_reshape({vectors[i].size(1)})));
    }
  }
  return result;
}

}  // namespace heed

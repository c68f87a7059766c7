#include "heed/explain/similarity.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

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

// <t_i, u_j> / (|sum t| |sum u|): n and m cancel out.
Tensor products(const Tensor& t, const Tensor& u) {
  const std::int64_t n = t.size(0), m = u.size(0), width = t.size(1);
  const double lengths = length_of_sum(t) * length_of_sum(u);
  Tensor matrix = Tensor::zeros({n, m}, DType::f64);
  double* out = matrix.mutable_data<double>();
  if (lengths > 0) {
    parallel_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = 0; j < m; ++j) {
          out[i * m + j] = dot(t.data<float>() + i * width, u.data<float>() + j * width, width) / lengths;
        }
      }
    });
  }
  return matrix;
}

Tensor hidden_states(const TextModel& model, const ReadText& text) {
  const NoGrad no_grad;
  return model.encoder().encode(repeated_input(model, text.encoding, 1), Context());
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

SimilarityExplanation explain_similarity(const TextModel& model, const std::string& a, const std::string& b,
                                         const EmbedOptions& options) {
  const EmbedPlan plan = embed_plan(model, options);
  SimilarityExplanation result{.pooling = plan.pooling};
  const std::array<const std::string*, 2> given = {&a, &b};
  std::array<Tensor, 2> hidden, vectors;
  for (std::size_t i = 0; i < 2; ++i) {
    const TextInput input(plan.prompt + *given[i]);
    auto encodings = model.encode(std::span(&input, 1), {.max_length = plan.max_tokens});
    result.texts[i] = read_text(model, input, std::move(encodings.front()));
    HEED_CHECK(!result.texts[i].tokens.empty(), "[explain_similarity] text ", i + 1, " has no tokens");
    hidden[i] = hidden_states(model, result.texts[i]);
    vectors[i] = pool_texts(hidden[i], Offsets{hidden[i].size(0)}, plan.pooling).reshaped({hidden[i].size(1)});
  }
  const std::int64_t width = vectors[0].size(0);
  const float *first = vectors[0].data<float>(), *second = vectors[1].data<float>();
  const double lengths = std::sqrt(dot(first, first, width) * dot(second, second, width));
  result.cosine = lengths > 0 ? dot(first, second, width) / lengths : 0;
  if (plan.pooling == SentenceEmbedding::Pooling::mean) {
    result.matrix = products(hidden[0], hidden[1]);
  } else {
    result.attributions.emplace();
    for (std::size_t i = 0; i < 2; ++i) {
      (*result.attributions)[i] =
          integrated_gradients(model, result.texts[i].encoding, cosine_score(model, plan.pooling, vectors[1 - i]));
    }
  }
  return result;
}

}  // namespace heed

#include "heed/attention/relative_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

constexpr std::int64_t kTileRows = 96;

// Sizes of a problem, and where things lie.
struct Place {
  explicit Place(const AttentionProblem& p)
      : problem(p),
        heads(p.q.size(1)),
        width(p.value_width),
        distances(p.relative_values.size(0)),
        table_stride(p.relative_values.rank() == 3 ? heads * width : width) {}

  // Element 0 of (query of a sequence, head) in a tensor [Nq, H, size].
  std::int64_t row(std::int64_t sequence, std::int64_t query, std::int64_t head) const {
    return (problem.layout.queries.begin(sequence) + query) * heads + head;
  }
  // key - query, clipped and counted from 0.
  std::int64_t distance(std::int64_t position, std::int64_t key) const {
    return std::clamp(key - position, -(distances / 2), distances / 2) + distances / 2;
  }
  template <class T>
  const T* table(std::int64_t head) const {
    return problem.relative_values.data<T>() + (table_stride == width ? 0 : head * width);
  }

  const AttentionProblem& problem;
  std::int64_t heads, width, distances, table_stride;
};

// tile.scores *= the factors of the weights; `room` is for them.
template <class T>
void multiply_by_factors(const KernelCall<T>& call, const kernels::ScoreTile<T>& tile, PoolVector<T>& room) {
  if (!call.factors) return;
  room.resize(static_cast<std::size_t>(tile.queries * tile.keys));
  kernels::ScoreTile<T> factors = tile;
  factors.scores = room.data();
  factors.ld = tile.keys;
  call.factors->fill(factors);
  for (std::int64_t r = 0; r < tile.queries; ++r) {
    T* row = tile.scores + r * tile.ld;
    std::transform(row, row + tile.keys, room.data() + r * tile.keys, row, std::multiplies<T>());
  }
}

// The weights a' of some rows, summed at each distance.
template <class T>
void sum_by_distance(const KernelCall<T>& call, const T* log_sum, std::int64_t sequence, std::int64_t head,
                     std::int64_t begin, std::int64_t rows, T* by_distance) {
  const Place place(call.problem);
  const std::int64_t keys = call.problem.layout.keys.length(sequence);
  PoolVector<T> weights(static_cast<std::size_t>(rows * keys)), factors;
  kernels::attention_rows<T>(call.inputs(), log_sum, sequence, head, begin, rows, weights.data());
  multiply_by_factors(call, {sequence, head, begin, rows, 0, keys, weights.data(), keys}, factors);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t position = call.problem.layout.position(sequence, begin + r);
    T* sums = by_distance + place.row(sequence, begin + r, head) * place.distances;
    const kernels::Range seen = call.problem.visible(sequence, begin + r);
    for (std::int64_t j = seen.begin; j < seen.end; ++j) {
      sums[place.distance(position, j)] += weights[static_cast<std::size_t>(r * keys + j)];
    }
  }
}

}  // namespace

template <class T>
Tensor add_relative_values(const KernelCall<T>& call, const T* log_sum, T* out) {
  const AttentionProblem& problem = call.problem;
  const Place place(problem);
  Tensor by_distance = Tensor::zeros({problem.q.size(0), place.heads, place.distances}, problem.q.dtype());
  for (std::int64_t b = 0; b < problem.layout.queries.sequences(); ++b) {
    const std::int64_t queries = problem.layout.queries.length(b), keys = problem.layout.keys.length(b);
    const std::int64_t tiles = (queries + kTileRows - 1) / kTileRows;
    const std::int64_t scores = std::max<std::int64_t>(1, std::min(kTileRows, queries) * keys);  // of a tile
    parallel_for(place.heads * tiles, 1 + (std::int64_t{1} << 14) / scores, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = i % tiles * kTileRows;
        sum_by_distance(call, log_sum, b, i / tiles, begin, std::min(kTileRows, queries - begin),
                        by_distance.mutable_data<T>());
      }
    });
  }
  kernels::Epilogue<T> accumulate;
  accumulate.accumulate = true;
  for (std::int64_t head = 0; head < place.heads; ++head) {
    kernels::gemm<T>(problem.q.size(0), place.width, place.distances, by_distance.data<T>() + head * place.distances,
                     place.heads * place.distances, false, place.table<T>(head), place.table_stride, false,
                     out + head * place.width, problem.out_stride(), accumulate);
  }
  return by_distance;
}

template <class T>
RelativeValuesRule<T>::RelativeValuesRule(const KernelCall<T>& call, const T* log_sum, const T* d_out)
    : call_(call), log_sum_(log_sum), d_out_(d_out) {
  const AttentionProblem& problem = call.problem;
  const Place place(problem);
  slopes_ = Tensor::empty({problem.q.size(0), place.heads, place.distances}, problem.q.dtype());
  for (std::int64_t head = 0; head < place.heads; ++head) {
    kernels::gemm<T>(problem.q.size(0), place.distances, place.width, d_out + head * place.width, problem.out_stride(),
                     false, place.table<T>(head), place.table_stride, true,
                     slopes_.mutable_data<T>() + head * place.distances, place.heads * place.distances);
  }
}

// The kernel, which knows o = sum_j a'_ij v_j alone, comes with a_ij (keep_ij d_out_i . v_j - d_out_i . o_i); its o is
// the whole output. What is missing is a_ij keep_ij slopes_i[distance].
template <class T>
void RelativeValuesRule<T>::backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& after,
                                     const kernels::ScoreTile<T>& d) {
  const AttentionProblem& problem = call_.problem;
  const Place place(problem);
  PoolVector<T> missing(static_cast<std::size_t>(d.queries * d.keys)), factors;
  for (std::int64_t r = 0; r < d.queries; ++r) {
    const std::int64_t query = d.query_begin + r, row = place.row(d.sequence, query, d.head);
    const std::int64_t position = problem.layout.position(d.sequence, query);
    const kernels::Range seen = problem.visible(d.sequence, query);
    const std::int64_t begin = std::max(seen.begin, d.key_begin), end = std::min(seen.end, d.key_begin + d.keys);
    const T* slopes = slopes_.data<T>() + row * place.distances;
    for (std::int64_t j = begin; j < end; ++j) {
      const T score = after.scores[r * after.ld + j - d.key_begin];
      const T weight = score == -std::numeric_limits<T>::infinity() ? T{0} : std::exp(score - log_sum_[row]);
      missing[static_cast<std::size_t>(r * d.keys + j - d.key_begin)] = weight * slopes[place.distance(position, j)];
    }
  }
  kernels::ScoreTile<T> tile = d;
  tile.scores = missing.data();
  tile.ld = d.keys;
  multiply_by_factors(call_, tile, factors);
  for (std::int64_t r = 0; r < d.queries; ++r) {
    T* to = d.scores + r * d.ld;
    std::transform(to, to + d.keys, missing.data() + r * d.keys, to, std::plus<T>());
  }
}

template <class T>
Tensor RelativeValuesRule<T>::table_gradient(const Tensor& by_distance) const {
  const AttentionProblem& problem = call_.problem;
  const Place place(problem);
  const Tensor& table = problem.relative_values;
  Tensor by_head = Tensor::empty({place.heads, place.distances, place.width}, table.dtype());
  for (std::int64_t head = 0; head < place.heads; ++head) {
    kernels::gemm<T>(place.distances, place.width, problem.q.size(0), by_distance.data<T>() + head * place.distances,
                     place.heads * place.distances, true, d_out_ + head * place.width, problem.out_stride(), false,
                     by_head.mutable_data<T>() + head * place.distances * place.width, place.width);
  }
  if (table.rank() == 2) return sum_over_axis(by_head, 0).detached_reshape(table.shape());
  return by_head.detached_transpose(0, 1).detached_contiguous();
}

#define HEED_INSTANTIATE(T)                                                   \
  template Tensor add_relative_values<T>(const KernelCall<T>&, const T*, T*); \
  template class RelativeValuesRule<T>;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed

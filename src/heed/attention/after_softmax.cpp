#include "heed/attention/after_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/gemm.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

constexpr std::int64_t kTileRows = 96;

// How many items of so many scores each are worth a thread.
std::int64_t grain(std::int64_t scores) {
  return 1 + (std::int64_t{1} << 14) / std::max<std::int64_t>(1, scores);
}

// Sizes of a problem, and where things of a tile lie.
struct Place {
  explicit Place(const AttentionProblem& p)
      : problem(p),
        heads(p.q.size(1)),
        group(heads / p.k.size(1)),
        width(p.v.size(2)),
        distances(p.relative_values.defined() ? p.relative_values.size(0) : 0),
        table_stride(p.relative_values.defined() && p.relative_values.rank() == 3 ? heads * width : width) {}

  // Element 0 of (query of the tile, head) in a tensor [Nq, H, size].
  std::int64_t row(std::int64_t sequence, std::int64_t query, std::int64_t head) const {
    return (problem.layout.queries.begin(sequence) + query) * heads + head;
  }
  struct Keys {
    std::int64_t begin, end;
  };
  Keys visible(std::int64_t sequence, std::int64_t query) const {
    if (!problem.masked) return {0, problem.layout.keys.length(sequence)};
    const auto token = static_cast<std::size_t>(problem.layout.queries.begin(sequence) + query);
    return {problem.visible_begin[token], problem.visible_end[token]};
  }
  std::int64_t distance(std::int64_t position, std::int64_t key) const {
    return std::clamp(key - position, -(distances / 2), distances / 2) + distances / 2;
  }
  template <class T>
  const T* table(std::int64_t head) const {
    return problem.relative_values.data<T>() + (table_stride == width ? 0 : head * width);
  }

  const AttentionProblem& problem;
  std::int64_t heads, group, width, distances, table_stride;
};

// body(tile): rows of weights a' of one sequence and head, all its keys, queries ascending. `room` holds
// kTileRows * keys.
template <class T, class Body>
void walk_weights(const KernelCall<T>& call, const T* log_sum, std::int64_t sequence, std::int64_t head,
                  std::int64_t query_begin, std::int64_t query_end, PoolVector<T>& room, const Body& body) {
  const AttentionProblem& problem = call.problem;
  const std::int64_t keys = problem.layout.keys.length(sequence);
  room.resize(static_cast<std::size_t>(kTileRows * keys));
  for (std::int64_t begin = query_begin; begin < query_end; begin += kTileRows) {
    const std::int64_t rows = std::min(kTileRows, query_end - begin);
    kernels::attention_rows<T>(call.inputs(), log_sum, sequence, head, begin, rows, room.data());
    const kernels::ScoreTile<T> tile{sequence, head, begin, rows, 0, keys, room.data(), keys};
    for (std::int64_t r = 0; problem.dropout && r < rows; ++r) {
      drop_weights(*problem.dropout, tile, problem.layout.position(sequence, begin + r), room.data() + r * keys);
    }
    body(tile);
  }
}

// sums[c] += the weights of a row at each clipped distance.
template <class T>
void add_by_distance(const Place& place, const kernels::ScoreTile<T>& tile, std::int64_t query, T* sums) {
  const T* weights = tile.scores + (query - tile.query_begin) * tile.ld;
  const std::int64_t position = place.problem.layout.position(tile.sequence, query);
  const Place::Keys keys = place.visible(tile.sequence, query);
  for (std::int64_t j = keys.begin; j < keys.end; ++j) sums[place.distance(position, j)] += weights[j];
}

}  // namespace

template <class T>
void drop_weights(const AttentionDropout& dropout, const kernels::ScoreTile<T>& place, std::int64_t position, T* row) {
  constexpr std::int64_t kBlock = 64;  // keys that share a stream
  const std::int64_t end = place.key_begin + place.keys;
  for (std::int64_t block = place.key_begin / kBlock * kBlock; block < end; block += kBlock) {
    T factors[kBlock];
    std::fill(factors, factors + kBlock, T{1});
    const std::uint64_t stream = stream_id(dropout.key.stream, place.sequence, place.head, position, block);
    kernels::dropout<T>(factors, factors, kBlock, dropout.probability, {dropout.key.seed, stream});
    for (std::int64_t j = std::max(block, place.key_begin); j < std::min(block + kBlock, end); ++j) {
      row[j - place.key_begin] *= factors[j - block];
    }
  }
}

template <class T>
Tensor apply_after_softmax(const KernelCall<T>& call, const T* log_sum, T* out) {
  const AttentionProblem& problem = call.problem;
  const Place place(problem);
  const std::int64_t width = place.width, stride = problem.out_stride(), tokens = problem.q.size(0);
  Tensor by_distance;
  if (place.distances > 0) by_distance = Tensor::zeros({tokens, place.heads, place.distances}, problem.q.dtype());
  for (std::int64_t b = 0; b < problem.layout.queries.sequences(); ++b) {
    const std::int64_t queries = problem.layout.queries.length(b), keys = problem.layout.keys.length(b);
    if (keys == 0) continue;
    const std::int64_t tiles = (queries + kTileRows - 1) / kTileRows;
    parallel_for(
        place.heads * tiles, grain(std::min(kTileRows, queries) * keys), [&](std::int64_t first, std::int64_t last) {
          PoolVector<T> room;
          for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t head = i / tiles, begin = i % tiles * kTileRows;
            walk_weights(
                call, log_sum, b, head, begin, std::min(begin + kTileRows, queries), room, [&](const auto& tile) {
                  if (problem.dropout) {
                    const T* v = problem.v.template data<T>() + problem.layout.keys.begin(b) * problem.v.strides()[0] +
                                 head / place.group * width;
                    kernels::gemm<T>(tile.queries, width, keys, tile.scores, tile.ld, false, v, problem.v.strides()[0],
                                     false, out + place.row(b, begin, head) * width, stride);
                  }
                  for (std::int64_t r = 0; place.distances > 0 && r < tile.queries; ++r) {
                    add_by_distance(place, tile, begin + r,
                                    by_distance.mutable_data<T>() + place.row(b, begin + r, head) * place.distances);
                  }
                });
          }
        });
  }
  kernels::Epilogue<T> accumulate;
  accumulate.accumulate = true;
  for (std::int64_t head = 0; place.distances > 0 && head < place.heads; ++head) {
    kernels::gemm<T>(tokens, width, place.distances, by_distance.data<T>() + head * place.distances,
                     place.heads * place.distances, false, place.table<T>(head), place.table_stride, false,
                     out + head * width, stride, accumulate);
  }
  return by_distance;
}

template <class T>
AfterSoftmaxRule<T>::AfterSoftmaxRule(const AttentionProblem& problem, const T* log_sum, const T* out, const T* d_out)
    : problem_(problem), log_sum_(log_sum), d_out_(d_out) {
  const Place place(problem);
  const std::int64_t tokens = problem.q.size(0), width = place.width;
  delta_ = Tensor::empty({tokens, place.heads}, problem.q.dtype());
  T* delta = delta_.mutable_data<T>();
  for (std::int64_t i = 0; i < tokens * place.heads; ++i) {
    delta[i] = 0;
    for (std::int64_t e = 0; e < width; ++e) delta[i] += out[i * width + e] * d_out[i * width + e];
  }
  if (place.distances == 0) return;
  slopes_ = Tensor::empty({tokens, place.heads, place.distances}, problem.q.dtype());
  for (std::int64_t head = 0; head < place.heads; ++head) {
    kernels::gemm<T>(tokens, place.distances, width, d_out + head * width, problem.out_stride(), false,
                     place.table<T>(head), place.table_stride, true, slopes_.mutable_data<T>() + head * place.distances,
                     place.heads * place.distances);
  }
}

// The kernel, which knows o = sum_j a_ij v_j alone, comes with d_ij = a_ij (d_out_i . v_j - delta_i). Right is
//   a_ij (keep_ij (d_out_i . v_j + slopes_i[distance]) - delta_i).
template <class T>
void AfterSoftmaxRule<T>::backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& after,
                                   const kernels::ScoreTile<T>& d) {
  const Place place(problem_);
  const T *delta = delta_.data<T>(), *slopes = slopes_.defined() ? slopes_.data<T>() : nullptr;
  PoolVector<T> weights(static_cast<std::size_t>(d.keys));
  for (std::int64_t r = 0; r < d.queries; ++r) {
    const std::int64_t query = d.query_begin + r, row = place.row(d.sequence, query, d.head);
    if (log_sum_[row] == -std::numeric_limits<T>::infinity()) continue;
    const std::int64_t position = problem_.layout.position(d.sequence, query);
    const Place::Keys seen = place.visible(d.sequence, query);
    const std::int64_t begin = std::max(seen.begin, d.key_begin), end = std::min(seen.end, d.key_begin + d.keys);
    T* ds = d.scores + r * d.ld;
    for (std::int64_t j = begin; j < end; ++j) {
      const T a = std::exp(after.scores[r * after.ld + j - d.key_begin] - log_sum_[row]);
      weights[static_cast<std::size_t>(j - d.key_begin)] = a;
      T& x = ds[j - d.key_begin];
      if (problem_.dropout) x += a * delta[row];
      if (slopes) x += a * slopes[row * place.distances + place.distance(position, j)];
    }
    if (!problem_.dropout) continue;
    drop_weights(*problem_.dropout, d, position, ds);
    for (std::int64_t j = begin; j < end; ++j) {
      ds[j - d.key_begin] -= weights[static_cast<std::size_t>(j - d.key_begin)] * delta[row];
    }
  }
}

template <class T>
Tensor AfterSoftmaxRule<T>::table_gradient(const Tensor& by_distance) const {
  const Place place(problem_);
  const Tensor& table = problem_.relative_values;
  Tensor by_head = Tensor::empty({place.heads, place.distances, place.width}, table.dtype());
  for (std::int64_t head = 0; head < place.heads; ++head) {
    kernels::gemm<T>(place.distances, place.width, problem_.q.size(0), by_distance.data<T>() + head * place.distances,
                     place.heads * place.distances, true, d_out_ + head * place.width, problem_.out_stride(), false,
                     by_head.mutable_data<T>() + head * place.distances * place.width, place.width);
  }
  if (table.rank() == 2) return sum_over_axis(by_head, 0).reshaped(table.shape());
  return by_head.transposed(0, 1).contiguous();
}

// A thread has whole (sequence, key head) pairs: sums run over ascending heads of the group and ascending queries.
template <class T>
void AfterSoftmaxRule<T>::write_value_gradient(const KernelCall<T>& call, T* dv) const {
  const Place place(problem_);
  const std::int64_t key_heads = problem_.k.size(1), width = place.width, dv_stride = problem_.v.strides()[0];
  kernels::Epilogue<T> accumulate;
  accumulate.accumulate = true;
  const AttentionLayout& layout = problem_.layout;
  const std::int64_t scores = place.group * layout.queries.longest() * layout.keys.longest();
  parallel_for(layout.keys.sequences() * key_heads, grain(scores), [&](std::int64_t first, std::int64_t last) {
    PoolVector<T> room;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / key_heads, key_head = i % key_heads, keys = layout.keys.length(b);
      T* to = dv + layout.keys.begin(b) * dv_stride + key_head * width;
      for (std::int64_t j = 0; j < keys; ++j) std::fill(to + j * dv_stride, to + j * dv_stride + width, T{0});
      for (std::int64_t head = key_head * place.group; keys > 0 && head < (key_head + 1) * place.group; ++head) {
        const std::int64_t queries = layout.queries.length(b);
        walk_weights(call, log_sum_, b, head, 0, queries, room, [&](const auto& tile) {
          kernels::gemm<T>(keys, width, tile.queries, tile.scores, tile.ld, true,
                           d_out_ + place.row(b, tile.query_begin, head) * width, problem_.out_stride(), false, to,
                           dv_stride, accumulate);
        });
      }
    }
  });
}

#define HEED_INSTANTIATE(T)                                                                               \
  template void drop_weights<T>(const AttentionDropout&, const kernels::ScoreTile<T>&, std::int64_t, T*); \
  template Tensor apply_after_softmax<T>(const KernelCall<T>&, const T*, T*);                             \
  template class AfterSoftmaxRule<T>;
HEED_INSTANTIATE(float)
HEED_INSTANTIATE(double)
#undef HEED_INSTANTIATE

}  // namespace heed

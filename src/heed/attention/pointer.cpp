#include "heed/attention/pointer.h"

#include <cmath>
#include <limits>

#include "heed/attention/problem.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/ops/checks.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

template <class T>
constexpr T kHidden = -std::numeric_limits<T>::infinity();

// Stands last of all rules. Forward: copies what comes by into `scores`. Backward: d_scores becomes the gradient of
// those copies, whatever the kernel, which knows a softmax only, made of it.
template <class T>
class ScoreCopy : public kernels::ScoreRule<T> {
 public:
  ScoreCopy(const AttentionProblem& problem, T* scores, std::int64_t row_length)
      : problem_(problem), scores_(scores), length_(row_length) {}
  ScoreCopy(const AttentionProblem& problem, const T* gradients, std::int64_t row_length)
      : problem_(problem), gradients_(gradients), length_(row_length) {}

  void apply(const kernels::ScoreTile<T>& tile) const override {
    if (!scores_) return;
    for_each_visible(tile, [&](T& score, std::int64_t place) { scores_[place] = score; });
  }
  void backward(const kernels::ScoreTile<T>&, const kernels::ScoreTile<T>& after,
                const kernels::ScoreTile<T>& d) override {
    for (std::int64_t r = 0; r < d.queries; ++r) std::fill(d.scores + r * d.ld, d.scores + r * d.ld + d.keys, T{0});
    for_each_visible(d, [&](T& gradient, std::int64_t place) {
      const std::int64_t at = &gradient - d.scores;
      if (after.scores[at / d.ld * after.ld + at % d.ld] != kHidden<T>) gradient = gradients_[place];
    });
  }

 private:
  // body(element of the tile, its place in [Nq, H, L])
  template <class Body>
  void for_each_visible(const kernels::ScoreTile<T>& tile, const Body& body) const {
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      const std::int64_t token = problem_.layout.queries.begin(tile.sequence) + tile.query_begin + r;
      const auto i = static_cast<std::size_t>(token);
      const std::int64_t seen = problem_.masked ? problem_.visible_begin[i] : 0;
      const std::int64_t visible_end = problem_.masked ? problem_.visible_end[i] : tile.key_begin + tile.keys;
      for (std::int64_t j = std::max(seen, tile.key_begin); j < std::min(visible_end, tile.key_begin + tile.keys);
           ++j) {
        body(tile.scores[r * tile.ld + j - tile.key_begin], (token * problem_.q.size(1) + tile.head) * length_ + j);
      }
    }
  }

  const AttentionProblem& problem_;
  T* scores_ = nullptr;
  const T* gradients_ = nullptr;
  std::int64_t length_;
};

struct Scored {
  std::shared_ptr<const AttentionProblem> problem;
  Tensor log_sum;
};

// dq and dk, and what the terms' and the additive score's tensors get, in the order of recording.
template <class T>
void scores_backward(const Scored& s, Backward& g) {
  const AttentionProblem& p = *s.problem;
  KernelCall<T> call(p);
  const bool additive = call.additive != nullptr;
  if (additive) call.additive->prepare_backward();
  for (const auto& rule : call.rules) rule->prepare_backward();
  ScoreCopy<T> copy(p, g.grad().data<T>(), g.grad().size(2));
  call.rule_pointers.push_back(&copy);
  Tensor dq = Tensor::empty(p.q.shape(), p.q.dtype()), dk = Tensor::empty(p.k.shape(), p.k.dtype()),
         dv = Tensor::empty(p.v.shape(), p.v.dtype());
  const Tensor nothing = Tensor::zeros({p.q.size(0), p.q.size(1), p.v.size(2)}, p.q.dtype());
  kernels::attention_backward<T>(call.inputs(), nothing.data<T>(), nothing.data<T>(), p.out_stride(),
                                 s.log_sum.data<T>(),
                                 {.dq = additive ? nullptr : dq.mutable_data<T>(),
                                  .dk = additive ? nullptr : dk.mutable_data<T>(),
                                  .dv = dv.mutable_data<T>()});
  g.give(0, additive ? call.additive->query_gradient() : dq);
  g.give(1, additive ? call.additive->key_gradient() : dk);
  if (additive) g.give(2, call.additive->weight_gradient());
  std::size_t input = 3;
  for (const auto& rule : call.rules) {
    for (const Tensor& gradient : rule->gradients()) g.give(input++, gradient);
  }
}

}  // namespace

Tensor attention_scores(const AttentionInput& input) {
  check_defined("attention_scores", input.q);
  check_defined("attention_scores", input.k);
  HEED_CHECK(input.k.rank() == 3, "[attention_scores] k ", input.k.shape(), ", expected [Nk, key heads, D]");
  AttentionInput bare = input;
  bare.q = input.q.detached_contiguous();
  bare.k = input.k.detached_contiguous();
  bare.v = Tensor::zeros({input.k.size(0), input.k.size(1), 1}, input.k.dtype());
  bare.relative_values = Tensor();
  bare.dropout.reset();
  const auto problem = std::make_shared<const AttentionProblem>(bare);
  const std::int64_t tokens = problem->q.size(0), heads = problem->q.size(1), length = problem->layout.keys.longest();
  const DType dtype = problem->q.dtype();
  Tensor scores = Tensor::full({tokens, heads, length}, kHidden<double>, dtype);
  Tensor out = Tensor::empty({tokens, heads, 1}, dtype);
  const Scored scored{problem, Tensor::empty({tokens, heads}, dtype)};
  visit_float("attention_scores", dtype, [&](auto zero) {
    using T = decltype(zero);
    KernelCall<T> call(*problem);
    ScoreCopy<T> copy(*problem, scores.mutable_data<T>(), length);
    call.rule_pointers.push_back(&copy);
    Tensor log_sum = scored.log_sum;
    kernels::attention<T>(call.inputs(), out.mutable_data<T>(), heads, log_sum.mutable_data<T>());
  });
  std::vector<Tensor> inputs = {input.q, input.k, input.additive ? input.additive->weight : Tensor()};
  for (const Term& term : input.terms) {
    for (const Tensor& tensor : term->tensors()) inputs.push_back(tensor);
  }
  return record("attention_scores", scores, inputs, [scored](Backward& g) {
    visit_float("attention_scores", g.grad().dtype(), [&](auto zero) { scores_backward<decltype(zero)>(scored, g); });
  });
}

Tensor pointer_loss(const AttentionInput& input, const Tensor& targets, const CrossEntropyOptions& options) {
  const Tensor scores = attention_scores(input);
  const std::int64_t rows = scores.size(0), length = scores.size(2);
  HEED_CHECK(scores.size(1) == 1 && targets.defined() && targets.shape() == Shape({rows}), "[pointer_loss] scores ",
             scores.shape(), ": expected one head and one target per query");
  const Tensor values = scores.detach().detached_to(DType::f64);
  const double* value = values.data<double>();
  std::vector<std::int64_t> counted;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto target = static_cast<std::int64_t>(targets.at({i}));
    const double* row = value + i * length;
    const bool sees = std::any_of(row, row + length, [](double s) { return s != kHidden<double>; });
    const bool counts = sees && target != options.ignore_index;
    HEED_CHECK(!counts || (target >= 0 && target < length && row[target] != kHidden<double>), "[pointer_loss] target ",
               target, " of query ", i, " is not a key it sees");
    counted.push_back(counts ? target : options.ignore_index);
  }
  return cross_entropy(reshape(scores, {rows, length}), Tensor::from(counted, {rows}), options);
}

namespace {

void check_copy(const Tensor& vocabulary, const Tensor& gate, const Tensor& weights, const CopySource& source,
                std::int64_t size) {
  check_same_dtype("copy_mixture", vocabulary, gate);
  check_same_dtype("copy_mixture", vocabulary, weights);
  HEED_CHECK(vocabulary.rank() == 2 && gate.shape() == Shape({vocabulary.size(0)}) &&
                 weights.shape() == Shape({vocabulary.size(0), source.keys.longest()}),
             "[copy_mixture] vocabulary ", vocabulary.shape(), ", gate ", gate.shape(), ", weights ", weights.shape(),
             ": expected [Nq, V], [Nq], [Nq, ", source.keys.longest(), "]");
  HEED_CHECK(source.queries.tokens() == vocabulary.size(0) && source.queries.sequences() == source.keys.sequences(),
             "[copy_mixture] offsets of ", source.queries.tokens(), " queries in ", source.queries.sequences(),
             " sequences, keys in ", source.keys.sequences(), ", for vocabulary ", vocabulary.shape());
  HEED_CHECK(size >= vocabulary.size(1), "[copy_mixture] size ", size, " for vocabulary ", vocabulary.shape());
  HEED_CHECK(source.ids.defined() && source.ids.shape() == Shape({source.keys.tokens()}),
             "[copy_mixture] expected one id per key, ", source.keys.tokens());
  check_ids("copy_mixture", source.ids, size);
}

// For each query its row, and the ids of its sequence: body(i, ids, count).
template <class Body>
void for_each_query(const CopySource& source, const Tensor& ids, const Body& body) {
  const std::int64_t* id = ids.data<std::int64_t>();
  for (std::int64_t b = 0; b < source.queries.sequences(); ++b) {
    parallel_for(source.queries.length(b), 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        body(source.queries.begin(b) + i, id + source.keys.begin(b), source.keys.length(b));
      }
    });
  }
}

}  // namespace

Tensor copy_mixture(const Tensor& vocabulary, const Tensor& gate, const Tensor& weights, const CopySource& source,
                    std::int64_t size) {
  check_copy(vocabulary, gate, weights, source, size);
  const Tensor p = vocabulary.detached_contiguous(), g = gate.detached_contiguous(), a = weights.detached_contiguous();
  const Tensor ids = source.ids.detached_contiguous().detached_to(DType::i64);
  const std::int64_t words = p.size(1), length = a.size(1);
  Tensor mixture = Tensor::zeros({p.size(0), size}, p.dtype());
  visit_float("copy_mixture", p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *from = p.data<T>(), *open = g.data<T>(), *weight = a.data<T>();
    T* to = mixture.mutable_data<T>();
    for_each_query(source, ids, [&](std::int64_t i, const std::int64_t* id, std::int64_t keys) {
      T* row = to + i * size;
      for (std::int64_t w = 0; w < words; ++w) row[w] = open[i] * from[i * words + w];
      for (std::int64_t j = 0; j < keys; ++j) row[id[j]] += (1 - open[i]) * weight[i * length + j];
    });
  });
  return record("copy_mixture", mixture, {vocabulary, gate, weights}, [=](Backward& backward) {
    Tensor dp = Tensor::empty(p.shape(), p.dtype()), dg = Tensor::empty(g.shape(), g.dtype()),
           da = Tensor::zeros(a.shape(), a.dtype());
    visit_float("copy_mixture", p.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T *from = p.data<T>(), *open = g.data<T>(), *weight = a.data<T>(), *up = backward.grad().data<T>();
      T *d_from = dp.mutable_data<T>(), *d_open = dg.mutable_data<T>(), *d_weight = da.mutable_data<T>();
      for_each_query(source, ids, [&](std::int64_t i, const std::int64_t* id, std::int64_t keys) {
        const T* d = up + i * size;
        T sum = 0;
        for (std::int64_t w = 0; w < words; ++w) {
          d_from[i * words + w] = open[i] * d[w];
          sum += from[i * words + w] * d[w];
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          d_weight[i * length + j] = (1 - open[i]) * d[id[j]];
          sum -= weight[i * length + j] * d[id[j]];
        }
        d_open[i] = sum;
      });
    });
    backward.give(0, dp);
    backward.give(1, dg);
    backward.give(2, da);
  });
}

Tensor probability_loss(const Tensor& probabilities, const Tensor& targets, double floor) {
  check_defined("probability_loss", probabilities);
  HEED_CHECK(probabilities.rank() == 2 && targets.defined() && targets.shape() == Shape({probabilities.size(0)}),
             "[probability_loss] probabilities ", probabilities.shape(),
             ": expected [N, classes] and one target per row");
  check_ids("probability_loss", targets, probabilities.size(1));
  const Tensor p = probabilities.detached_contiguous(), ids = targets.detached_contiguous().detached_to(DType::i64);
  const std::int64_t rows = p.size(0), classes = p.size(1);
  const double share = rows > 0 ? 1 / static_cast<double>(rows) : 0;
  // p[i, target] in f64
  auto hit = [=](std::int64_t i) { return p.at({i, ids.data<std::int64_t>()[i]}); };
  double total = 0;
  for (std::int64_t i = 0; i < rows; ++i) total -= std::log(std::max(hit(i), floor));
  return record("probability_loss", Tensor::full({}, total * share, p.dtype()), {probabilities}, [=](Backward& g) {
    Tensor d = Tensor::zeros(p.shape(), p.dtype());
    visit_float("probability_loss", p.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const double up = static_cast<double>(g.grad().data<T>()[0]);
      for (std::int64_t i = 0; i < rows; ++i) {
        if (hit(i) > floor) {
          d.mutable_data<T>()[i * classes + ids.data<std::int64_t>()[i]] = static_cast<T>(-up * share / hit(i));
        }
      }
    });
    g.give(0, d);
  });
}

}  // namespace heed

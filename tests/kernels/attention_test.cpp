#include "heed/kernels/attention.h"

#include "heed/kernels/key_value_page.h"
#include "heed/kernels/pool_array.h"
#include "kernels/attention_reference.h"
#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

struct Shape {
  std::vector<std::int64_t> queries, keys;
  std::int64_t query_heads, key_heads, width, value_width;
};

template <class T>
AttentionCase<T> make_case(const Shape& shape, double range = 1.5) {
  AttentionCase<T> c;
  c.queries = shape.queries;
  c.keys = shape.keys;
  c.query_heads = shape.query_heads, c.key_heads = shape.key_heads;
  c.width = shape.width, c.value_width = shape.value_width;
  for (std::int64_t n : c.queries) c.query_offsets.push_back(c.query_offsets.back() + n);
  for (std::int64_t n : c.keys) c.key_offsets.push_back(c.key_offsets.back() + n);
  c.q = random_values<T>(c.query_tokens() * c.q_stride(), 1, -range, range);
  c.k = random_values<T>(c.key_tokens() * c.k_stride(), 2, -range, range);
  c.v = random_values<T>(c.key_tokens() * c.v_stride(), 3, -1, 1);
  c.d_out = random_values<T>(c.query_tokens() * c.out_stride(), 4, -1, 1);
  c.scale = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, c.width)));
  return c;
}

enum class Sight { all, causal, window, prefix, segments, holes };

// The keys of a query stand at its own place counted from the end, as with a cache.
template <class T>
void set_sight(AttentionCase<T>& c, Sight sight) {
  if (sight == Sight::all) return;
  for (std::size_t b = 0; b < c.queries.size(); ++b) {
    for (std::int64_t i = 0; i < c.queries[b]; ++i) {
      const std::int64_t place = c.keys[b] - c.queries[b] + i;
      std::int64_t begin = 0, end = place + 1;
      if (sight == Sight::window) begin = place - 20, end = place + 4;
      if (sight == Sight::prefix) end = std::max<std::int64_t>(end, 9);
      if (sight == Sight::segments) begin = place / 70 * 70, end = begin + 70;
      if (sight == Sight::holes) begin = i % 3 == 0 ? 5 : 0, end = i % 3 == 0 ? 5 : 1 + i % 140;
      c.visible_begin.push_back(std::clamp<std::int64_t>(begin, 0, c.keys[b]));
      c.visible_end.push_back(std::clamp<std::int64_t>(end, 0, c.keys[b]));
    }
  }
}

template <class T>
struct Result {
  std::vector<T> out, log_sum, dq, dk, dv;
  std::vector<T> all() const {
    std::vector<T> values = out;
    for (const auto* x : {&log_sum, &dq, &dk, &dv}) values.insert(values.end(), x->begin(), x->end());
    return values;
  }
};

template <class T>
std::vector<T> zeros(std::size_t n) {
  return std::vector<T>(n, T{0});
}

template <class T>
Result<T> run(const AttentionCase<T>& c, const AttentionInputs<T>& in, bool backward = true) {
  Result<T> r;
  r.out = zeros<T>(c.d_out.size());
  r.log_sum = zeros<T>(static_cast<std::size_t>(c.query_tokens() * c.query_heads));
  attention<T>(in, r.out.data(), c.out_stride(), r.log_sum.data());
  if (!backward) return r;
  r.dq = zeros<T>(c.q.size()), r.dk = zeros<T>(c.k.size()), r.dv = zeros<T>(c.v.size());
  AttentionGradients<T> to{in.function ? nullptr : r.dq.data(), in.function ? nullptr : r.dk.data(), r.dv.data()};
  attention_backward<T>(in, r.out.data(), c.d_out.data(), c.out_stride(), r.log_sum.data(), to);
  return r;
}

template <class T>
Result<T> run(const AttentionCase<T>& c, bool backward = true) {
  return run(c, c.inputs(), backward);
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<double>& want, double tolerance, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(want[i])) {
      ASSERT_EQ(static_cast<double>(got[i]), want[i]) << what << " " << i;
    } else {
      ASSERT_NEAR(static_cast<double>(got[i]), want[i], tolerance * std::max(1.0, std::abs(want[i])))
          << what << " " << i;
    }
  }
}

template <class T>
void expect_matches(const Result<T>& got, const NaiveAttention& want, double factor = 1) {
  const double near = tolerance<T>(1e-5, 1e-13) * factor;
  expect_near(got.out, want.out, near, "out");
  expect_near(got.log_sum, want.log_sum, near, "log_sum");
  expect_near(got.dq, want.dq, near, "dq");
  expect_near(got.dk, want.dk, near, "dk");
  expect_near(got.dv, want.dv, near, "dv");
}

const std::vector<Shape> kShapes = {
    {{}, {}, 1, 1, 8, 8},
    {{0}, {0}, 1, 1, 8, 8},
    {{1}, {1}, 1, 1, 1, 1},
    {{3}, {3}, 2, 1, 5, 7},
    {{16}, {16}, 4, 2, 32, 32},
    {{17}, {17}, 3, 3, 64, 64},
    {{127}, {127}, 1, 1, 5, 1},
    {{128}, {128}, 2, 2, 64, 64},
    {{129}, {129}, 4, 1, 32, 80},
    {{300}, {300}, 2, 1, 80, 5},
    {{5}, {200}, 2, 2, 33, 17},  // a cached step
    {{200}, {7}, 2, 1, 16, 16},  // cross-attention
    {{4}, {0}, 2, 1, 16, 16},    // no keys at all
    {{0}, {9}, 2, 1, 16, 16},    // no queries
    {{7, 0, 150, 1, 40, 0}, {7, 3, 150, 300, 0, 5}, 4, 2, 16, 24},
};

template <class T>
using AttentionTyped = KernelTest<T>;
TYPED_TEST_SUITE(AttentionTyped, Floats);

TYPED_TEST(AttentionTyped, MatchesTheDefinition) {
  using T = TypeParam;
  for (const Shape& shape : kShapes) {
    for (Sight sight : {Sight::all, Sight::causal, Sight::window, Sight::prefix, Sight::segments, Sight::holes}) {
      auto c = make_case<T>(shape);
      set_sight(c, sight);
      SCOPED_TRACE(::testing::Message() << "queries " << c.query_tokens() << " keys " << c.key_tokens() << " width "
                                        << c.width << " sight " << static_cast<int>(sight));
      const NaiveAttention want = naive_attention(c);
      for_each_target([&] { expect_matches(run(c), want); });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(AttentionTyped, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  for (Sight sight : {Sight::all, Sight::causal, Sight::holes}) {
    for (const Shape& shape : kShapes) {
      auto c = make_case<T>(shape);
      set_sight(c, sight);
      expect_same_bits_for_all_thread_counts([&] { return run(c).all(); });
    }
  }
}

TYPED_TEST(AttentionTyped, ASequenceGetsTheSameBitsAloneAndInABatch) {
  using T = TypeParam;
  const Shape shape{{7, 0, 150, 1, 40}, {7, 3, 150, 300, 90}, 4, 2, 16, 24};
  for (Sight sight : {Sight::all, Sight::causal, Sight::window}) {
    auto batch = make_case<T>(shape);
    set_sight(batch, sight);
    const Result<T> together = run(batch);
    for (std::size_t b = 0; b < shape.queries.size(); ++b) {
      AttentionCase<T> alone = batch;
      const auto part = [](const auto& x, std::int64_t begin, std::int64_t end) {
        return std::decay_t<decltype(x)>(x.begin() + begin, x.begin() + end);
      };
      const std::int64_t q0 = batch.query_offsets[b], q1 = batch.query_offsets[b + 1];
      const std::int64_t k0 = batch.key_offsets[b], k1 = batch.key_offsets[b + 1];
      alone.queries = {q1 - q0}, alone.keys = {k1 - k0};
      alone.query_offsets = {0, q1 - q0}, alone.key_offsets = {0, k1 - k0};
      alone.q = part(batch.q, q0 * batch.q_stride(), q1 * batch.q_stride());
      alone.d_out = part(batch.d_out, q0 * batch.out_stride(), q1 * batch.out_stride());
      alone.k = part(batch.k, k0 * batch.k_stride(), k1 * batch.k_stride());
      alone.v = part(batch.v, k0 * batch.v_stride(), k1 * batch.v_stride());
      if (sight != Sight::all) {
        alone.visible_begin = part(batch.visible_begin, q0, q1);
        alone.visible_end = part(batch.visible_end, q0, q1);
      }
      const Result<T> r = run(alone);
      EXPECT_TRUE(same_bits(r.out, part(together.out, q0 * batch.out_stride(), q1 * batch.out_stride())));
      EXPECT_TRUE(same_bits(r.dq, part(together.dq, q0 * batch.q_stride(), q1 * batch.q_stride())));
      EXPECT_TRUE(same_bits(r.dk, part(together.dk, k0 * batch.k_stride(), k1 * batch.k_stride())));
      EXPECT_TRUE(same_bits(r.dv, part(together.dv, k0 * batch.v_stride(), k1 * batch.v_stride())));
    }
  }
}

TYPED_TEST(AttentionTyped, ACachedStepGivesTheRowOfTheCausalPass) {
  using T = TypeParam;
  const std::int64_t n = 290;
  auto full = make_case<T>({{n}, {n}, 2, 1, 24, 24});
  set_sight(full, Sight::causal);
  for_each_target([&] {
    const Result<T> whole = run(full, false);
    for (std::int64_t i : {0, 1, 15, 16, 31, 32, 33, 127, 128, 200, 289}) {
      AttentionCase<T> step = full;
      step.queries = {1}, step.keys = {i + 1};
      step.query_offsets = {0, 1}, step.key_offsets = {0, i + 1};
      step.visible_begin.clear(), step.visible_end.clear();
      step.q.assign(full.q.begin() + i * full.q_stride(), full.q.begin() + (i + 1) * full.q_stride());
      step.k.resize(static_cast<std::size_t>((i + 1) * full.k_stride()));
      step.v.resize(static_cast<std::size_t>((i + 1) * full.v_stride()));
      step.d_out.resize(static_cast<std::size_t>(full.out_stride()));
      const Result<T> one = run(step, false);
      const std::vector<T> row(whole.out.begin() + i * full.out_stride(),
                               whole.out.begin() + (i + 1) * full.out_stride());
      EXPECT_TRUE(same_bits(one.out, row)) << "row " << i;
      EXPECT_TRUE(same_bits(one.log_sum, {whole.log_sum[static_cast<std::size_t>(2 * i)],
                                          whole.log_sum[static_cast<std::size_t>(2 * i + 1)]}));
    }
  });
}

// The keys and values of a case in pages; the last page of a sequence has as little room as it can.
template <class T>
struct Paged {
  explicit Paged(const AttentionCase<T>& c) {
    for (std::size_t b = 0; b < c.keys.size(); ++b) {
      pages.emplace_back();
      for (std::int64_t first = 0; first < c.keys[b]; first += kKeyBlock) {
        const std::int64_t token = c.key_offsets[b] + first, count = std::min(kKeyBlock, c.keys[b] - first);
        const PageLayout<T> layout{c.key_heads, c.width, c.value_width, round_up(count, PageLayout<T>::kPanel)};
        memory.emplace_back(layout.elements());
        std::fill_n(memory.back().data(), layout.elements(), T{0});
        write_page<T>(layout, memory.back().data(), 0, count, c.k.data() + token * c.k_stride(), c.k_stride(),
                      c.v.data() + token * c.v_stride(), c.v_stride());
        pages.back().push_back({memory.back().data(), layout.capacity});
      }
    }
    spans.assign(pages.begin(), pages.end());
  }
  std::vector<PoolArray<T>> memory;
  std::vector<std::vector<KeyValuePage<T>>> pages;
  std::vector<std::span<const KeyValuePage<T>>> spans;
};

TYPED_TEST(AttentionTyped, PagesGiveTheBitsOfTensors) {
  using T = TypeParam;
  for (const Shape& shape : kShapes) {
    for (Sight sight : {Sight::all, Sight::causal, Sight::window, Sight::holes}) {
      auto c = make_case<T>(shape);
      set_sight(c, sight);
      const Paged<T> paged(c);
      AttentionInputs<T> in = c.inputs();
      in.k = in.v = nullptr;
      in.pages = paged.spans;
      for_each_target([&] {
        const Result<T> want = run(c, false), got = run(c, in, false);
        ASSERT_TRUE(same_bits(got.all(), want.all())) << c.query_tokens() << " of " << c.key_tokens();
        if (c.queries.empty() || c.queries[0] == 0) return;
        const auto weights = [&](const AttentionInputs<T>& inputs) {
          std::vector<T> rows(static_cast<std::size_t>(c.queries[0] * c.keys[0]), T{7});
          attention_rows<T>(inputs, want.log_sum.data(), 0, c.query_heads - 1, 0, c.queries[0], rows.data());
          return rows;
        };
        ASSERT_TRUE(same_bits(weights(in), weights(c.inputs())));
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(AttentionTyped, RowsAreTheWeightsOfThePass) {
  using T = TypeParam;
  for (Sight sight : {Sight::all, Sight::causal, Sight::holes}) {
    auto c = make_case<T>({{7, 150}, {9, 150}, 4, 2, 16, 16});
    set_sight(c, sight);
    const NaiveAttention want = naive_attention(c);
    const Result<T> r = run(c, false);
    for (std::int64_t head = 0; head < 4; ++head) {
      std::vector<T> weights(static_cast<std::size_t>(120 * 150), T{7});
      attention_rows<T>(c.inputs(), r.log_sum.data(), 1, head, 13, 120, weights.data());
      for (std::int64_t i = 0; i < 120; ++i) {
        const auto& row = want.weights[static_cast<std::size_t>((7 + 13 + i) * 4 + head)];
        double sum = 0, exact = 0;
        for (std::size_t j = 0; j < 150; ++j) {
          const double w = weights[static_cast<std::size_t>(i * 150) + j];
          ASSERT_NEAR(w, row[j], tolerance<T>(1e-6, 1e-14));
          sum += w, exact += row[j];
        }
        ASSERT_NEAR(sum, exact, tolerance<T>(2e-6, 1e-13));
      }
    }
  }
}

TYPED_TEST(AttentionTyped, SummaryMatchesAndLeavesTheOutputsAlone) {
  using T = TypeParam;
  for (Sight sight : {Sight::all, Sight::causal, Sight::window, Sight::holes}) {
    auto c = make_case<T>({{7, 300}, {9, 300}, 2, 1, 16, 16}, 4);
    set_sight(c, sight);
    const NaiveAttention want = naive_attention(c);
    for_each_target([&] {
      for (std::int64_t links : {1, 5, 8, 16}) {
        const Result<T> plain = run(c, false);
        const auto rows = static_cast<std::size_t>(c.query_tokens() * c.query_heads),
                   L = static_cast<std::size_t>(links);
        std::vector<T> entropy(rows), maximum(rows), weights(rows * L), out(plain.out.size()), log_sum(rows);
        std::vector<std::int64_t> keys(rows * L);
        attention<T>(c.inputs(), out.data(), c.out_stride(), log_sum.data(),
                     {entropy.data(), maximum.data(), links, keys.data(), weights.data()});
        EXPECT_TRUE(same_bits(out, plain.out));
        EXPECT_TRUE(same_bits(log_sum, plain.log_sum));
        expect_near(entropy, want.entropy, tolerance<T>(2e-5, 1e-12), "entropy");
        expect_near(maximum, want.maximum, tolerance<T>(1e-5, 1e-12), "maximum");
        for (std::size_t r = 0; r < rows; ++r) {
          std::vector<double> row = want.weights[r];
          const auto t = r / 2;
          const std::int64_t seen =
              sight == Sight::all ? std::ssize(row) : std::max<std::int64_t>(0, c.visible_end[t] - c.visible_begin[t]);
          std::vector<double> sorted = row;
          std::sort(sorted.rbegin(), sorted.rend());
          std::vector<bool> used(row.size());
          for (std::size_t i = 0; i < L; ++i) {
            const std::int64_t key = keys[r * L + i];
            if (static_cast<std::int64_t>(i) >= seen) {
              ASSERT_EQ(key, -1);
              ASSERT_EQ(weights[r * L + i], 0);
              continue;
            }
            ASSERT_TRUE(key >= 0 && key < std::ssize(row) && !used[static_cast<std::size_t>(key)]);
            used[static_cast<std::size_t>(key)] = true;
            ASSERT_NEAR(row[static_cast<std::size_t>(key)], sorted[i], tolerance<T>(1e-5, 1e-12));
            ASSERT_NEAR(weights[r * L + i], sorted[i], tolerance<T>(1e-5, 1e-12));
          }
        }
      }
    });
  }
}

TYPED_TEST(AttentionTyped, TheFirstOfEqualLinksWins) {
  using T = TypeParam;
  auto c = make_case<T>({{2}, {300}, 1, 1, 4, 4});
  std::fill(c.k.begin(), c.k.end(), T{1});
  std::vector<std::int64_t> keys(2 * 4);
  std::vector<T> out(c.d_out.size());
  attention<T>(c.inputs(), out.data(), c.out_stride(), nullptr, {nullptr, nullptr, 4, keys.data(), nullptr});
  EXPECT_EQ(keys, (std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TYPED_TEST(AttentionTyped, LargeScoresDoNotOverflow) {
  using T = TypeParam;
  auto c = make_case<T>({{40}, {200}, 1, 1, 4, 4}, 1);
  c.scale = 1e4;
  const NaiveAttention want = naive_attention(c);
  const Result<T> r = run(c);
  // A score of 1e4 is known to about 1e-3 in float.
  expect_near(r.out, want.out, tolerance<T>(5e-3, 1e-11), "out");
  for (T x : r.all()) ASSERT_TRUE(std::isfinite(x));
}

template <class T>
std::int64_t row_of(const ScoreTile<T>& tile, std::int64_t i) {
  return tile.query_begin + i;
}

double bias_value(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return std::sin(static_cast<double>(b + 2 * h + 3 * i + 5 * j));
}

// s + bias, with -inf for every fifth key; learns one number, the sum of d_scores.
template <class T>
struct BiasRule : ScoreRule<T> {
  void apply(const ScoreTile<T>& tile) const override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const std::int64_t key = tile.key_begin + j;
        T& s = tile.scores[i * tile.ld + j];
        s = key % 5 == 4 ? static_cast<T>(-INFINITY)
                         : s + static_cast<T>(bias_value(tile.sequence, tile.head, row_of(tile, i), key));
      }
    }
  }
  void backward(const ScoreTile<T>& before, const ScoreTile<T>& after, const ScoreTile<T>& d) override {
    for (std::int64_t i = 0; i < d.queries; ++i) {
      for (std::int64_t j = 0; j < d.keys; ++j) {
        const std::int64_t key = d.key_begin + j;
        if (key % 5 == 4) {
          EXPECT_EQ(after.scores[i * after.ld + j], static_cast<T>(-INFINITY));
          EXPECT_EQ(d.scores[i * d.ld + j], 0);
        } else {
          const T bias = static_cast<T>(bias_value(d.sequence, d.head, row_of(d, i), key));
          EXPECT_EQ(after.scores[i * after.ld + j], before.scores[i * before.ld + j] + bias);
        }
        moved += static_cast<double>(d.scores[i * d.ld + j]) * static_cast<double>(key);
      }
    }
  }
  bool has_shared_parameters() const override { return true; }
  double moved = 0;
};

// 3 tanh(s / 3)
template <class T>
struct CapRule : ScoreRule<T> {
  void apply(const ScoreTile<T>& tile) const override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        T& s = tile.scores[i * tile.ld + j];
        s = 3 * std::tanh(s / 3);
      }
    }
  }
  void backward(const ScoreTile<T>&, const ScoreTile<T>& after, const ScoreTile<T>& d) override {
    for (std::int64_t i = 0; i < d.queries; ++i) {
      for (std::int64_t j = 0; j < d.keys; ++j) {
        const T capped = after.scores[i * after.ld + j] / 3;
        d.scores[i * d.ld + j] *= 1 - capped * capped;
      }
    }
  }
};

TYPED_TEST(AttentionTyped, RulesApplyInOrderAndTheirGradientsInReverse) {
  using T = TypeParam;
  const NaiveRule naive{[](double s, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
                          return j % 5 == 4 ? -INFINITY : 3 * std::tanh(s / 3) + bias_value(b, h, i, j);
                        },
                        [](double s, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
                          return 1 - std::tanh(s / 3) * std::tanh(s / 3);
                        }};
  for (Sight sight : {Sight::all, Sight::causal, Sight::holes}) {
    auto c = make_case<T>({{7, 150}, {140, 150}, 2, 1, 16, 16}, 3);
    set_sight(c, sight);
    const NaiveAttention want = naive_attention(c, &naive);
    CapRule<T> cap;
    BiasRule<T> bias;
    ScoreRule<T>* const rules[] = {&cap, &bias};
    AttentionInputs<T> in = c.inputs();
    in.rules = rules;
    ThreadLimit one(1);
    expect_matches(run(c, in), want, 3);
    const double moved = bias.moved;
    bias.moved = 0;
    ThreadLimit four(4);
    run(c, in);
    EXPECT_EQ(bias.moved, moved);
  }
}

TYPED_TEST(AttentionTyped, ARowOfMinusInfinitySeesNothing) {
  using T = TypeParam;
  struct Nothing : ScoreRule<T> {
    void apply(const ScoreTile<T>& tile) const override {
      for (std::int64_t i = 0; i < tile.queries; ++i) {
        if (row_of(tile, i) % 2 == 0) std::fill_n(tile.scores + i * tile.ld, tile.keys, static_cast<T>(-INFINITY));
      }
    }
    void backward(const ScoreTile<T>&, const ScoreTile<T>&, const ScoreTile<T>&) override {}
  } nothing;
  auto c = make_case<T>({{9}, {200}, 1, 1, 8, 8});
  ScoreRule<T>* const rules[] = {&nothing};
  AttentionInputs<T> in = c.inputs();
  in.rules = rules;
  const Result<T> r = run(c, in);
  for (std::int64_t i = 0; i < 9; i += 2) {
    EXPECT_EQ(r.log_sum[static_cast<std::size_t>(i)], static_cast<T>(-INFINITY));
    for (std::int64_t d = 0; d < 8; ++d) {
      EXPECT_EQ(r.out[static_cast<std::size_t>(i * c.out_stride() + d)], 0);
      EXPECT_EQ(r.dq[static_cast<std::size_t>(i * c.q_stride() + d)], 0);
    }
  }
  for (T x : r.dk) ASSERT_TRUE(std::isfinite(x));
  for (T x : r.dv) ASSERT_TRUE(std::isfinite(x));
}

// Additive attention over one number per query and per key: s = tanh(u_i + w_j).
template <class T>
struct AdditiveFunction : ScoreFunction<T> {
  std::vector<T> u, w, du, dw;
  AdditiveFunction(std::int64_t queries, std::int64_t keys)
      : u(random_values<T>(queries, 8)), w(random_values<T>(keys, 9)), du(u.size()), dw(w.size()) {}
  void scores(const ScoreTile<T>& tile) const override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        tile.scores[i * tile.ld + j] = value(row_of(tile, i), tile.key_begin + j);
      }
    }
  }
  void backward(const ScoreTile<T>& d) override {
    for (std::int64_t i = 0; i < d.queries; ++i) {
      for (std::int64_t j = 0; j < d.keys; ++j) {
        const T s = value(row_of(d, i), d.key_begin + j), g = d.scores[i * d.ld + j] * (1 - s * s);
        du[static_cast<std::size_t>(row_of(d, i))] += g;
        dw[static_cast<std::size_t>(d.key_begin + j)] += g;
      }
    }
  }
  T value(std::int64_t i, std::int64_t j) const {
    return std::tanh(u[static_cast<std::size_t>(i)] + w[static_cast<std::size_t>(j)]);
  }
};

TEST(Attention, GradientsMatchFiniteDifferences) {
  auto c = make_case<double>({{5}, {140}, 2, 1, 3, 4});
  set_sight(c, Sight::causal);
  const auto loss = [&](const AttentionInputs<double>& in) {
    const Result<double> r = run(c, in, false);
    double sum = 0;
    for (std::size_t i = 0; i < r.out.size(); ++i) sum += r.out[i] * c.d_out[i];
    return sum;
  };
  const auto check = [&](std::vector<double>& x, const std::vector<double>& gradient,
                         const AttentionInputs<double>& in) {
    const double step = 1e-6;
    for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 40) {
      const double keep = x[i];
      x[i] = keep + step;
      const double above = loss(in);
      x[i] = keep - step;
      const double below = loss(in);
      x[i] = keep;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * step), 1e-8);
    }
  };
  // The gaps between rows have no influence, and no gradient.
  const Result<double> r = run(c);
  check(c.q, r.dq, c.inputs());
  check(c.k, r.dk, c.inputs());
  check(c.v, r.dv, c.inputs());

  auto one = make_case<double>({{100}, {140}, 1, 1, 3, 4});
  set_sight(one, Sight::causal);
  c = one;
  AdditiveFunction<double> additive(100, 140);
  AttentionInputs<double> in = c.inputs();
  in.function = &additive;
  in.q = in.k = nullptr;
  const Result<double> a = run(c, in);
  check(c.v, a.dv, in);
  check(additive.u, additive.du, in);
  check(additive.w, additive.dw, in);
}

TEST(Attention, RejectsWhatCannotBe) {
  auto c = make_case<float>({{3}, {3}, 3, 1, 4, 4});
  std::vector<float> out(c.d_out.size());
  AttentionInputs<float> in = c.inputs();
  in.key_heads = 2;
  EXPECT_ANY_THROW(attention<float>(in, out.data(), c.out_stride(), nullptr));
  in = c.inputs();
  in.key_offsets = {};
  EXPECT_ANY_THROW(attention<float>(in, out.data(), c.out_stride(), nullptr));
  EXPECT_ANY_THROW(attention<float>(c.inputs(), out.data(), c.out_stride(), nullptr, {nullptr, nullptr, 17}));
  c = make_case<float>({{3}, {200}, 1, 1, 4, 4});
  out.resize(c.d_out.size());
  Paged<float> paged(c);
  in = c.inputs();
  in.pages = paged.spans;
  EXPECT_NO_THROW(attention<float>(in, out.data(), c.out_stride(), nullptr));
  EXPECT_ANY_THROW(attention_backward<float>(in, nullptr, nullptr, c.out_stride(), nullptr, {}));
  paged.pages[0][1].capacity = 7;
  EXPECT_ANY_THROW(attention<float>(in, out.data(), c.out_stride(), nullptr));
  paged.spans[0] = paged.spans[0].first(1);
  EXPECT_ANY_THROW(attention<float>(in, out.data(), c.out_stride(), nullptr));
}

}  // namespace
}  // namespace heed::kernels

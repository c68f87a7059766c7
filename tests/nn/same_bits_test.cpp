// Law 1 through whole stacks: a Stack gives a sequence one result, whatever its neighbours
// are, however many threads work, with or without a probe, and whether keys come from a cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "heed/attention/rotary.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/nn/stack.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

constexpr std::int64_t kWidth = 24, kHeads = 4;

struct Variant {
  const char* name;
  std::int64_t key_heads;
  Mask mask{};
  bool turns = false;  // rotary
  bool alibi = false;
  bool pre_norm = true;
  bool cross = false;
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

std::vector<Variant> variants() {
  return {{"heads", kHeads},
          {"post_norm", kHeads, {}, false, false, false},
          {"grouped", 2},
          {"window", 2, Mask::window(9, 3)},
          {"rotary", 2, {}, true},
          {"alibi", 2, {}, false, true},
          {"causal", kHeads, Mask::causal()},
          {"causal_post_norm", kHeads, Mask::causal(), false, false, false},
          {"causal_one_key_head", 1, Mask::causal()},
          {"causal_window", 2, Mask::causal() & Mask::window(9, 0)},
          {"causal_rotary", 2, Mask::causal(), true},
          {"causal_alibi", 2, Mask::causal(), false, true},
          {"causal_cross", kHeads, Mask::causal(), false, false, true, true}};
}

// Those whose queries see no keys of later steps.
std::vector<Variant> causal_variants() {
  std::vector<Variant> found;
  std::ranges::copy_if(variants(), std::back_inserter(found),
                       [](const Variant& v) { return std::string_view(v.name).starts_with("causal"); });
  return found;
}

Tensor noise(const std::string& name, const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  Initializer::normal(1).fill(x, 1, stream_id(name));
  return x;
}

// Tokens of one sequence from a position on, and what its cross-attention reads.
struct Tokens {
  Tensor x;
  std::int64_t start = 0;
  Tensor memory{};
  Tokens part(std::int64_t begin, std::int64_t end) const {
    return {x.detached_slice(0, begin, end), start + begin, memory};
  }
};

Tokens make_tokens(const std::string& name, std::int64_t length) {
  return {noise(name, {length, kWidth}), 0, noise(name + " memory", {1 + length % 5, kWidth})};
}

Packed packed(const std::vector<Tokens>& batch, Tensor Tokens::*part) {
  std::vector<Tensor> parts;
  for (const Tokens& tokens : batch) parts.push_back(tokens.*part);
  return pack(parts);
}

class Model {
 public:
  explicit Model(const Variant& variant) : variant_(variant), stack_(config_of(variant)) { initialize(stack_, 5); }

  Tensor run(const std::vector<Tokens>& batch, const Context& context = Context(), DecodeState* state = nullptr) const {
    NoGrad no_grad;
    const Memory memory{.tokens = packed(batch, &Tokens::memory)};
    if (variant_.cross && state && state->sequences() == 0) stack_.join(memory.tokens, *state, context);
    StackCall call{.attention = {.mask = variant_.mask}, .state = state};
    if (variant_.alibi) call.attention.terms = {alibi_term()};
    if (variant_.cross && !state) call.memory = &memory;
    return stack_.forward(packed(batch, &Tokens::x), call, context);
  }
  DecodeState start() const { return stack_.start(); }

 private:
  static StackConfig config_of(const Variant& variant) {
    StackConfig config{.block = {.hidden_size = kWidth,
                                 .attention = {.heads = kHeads, .key_heads = variant.key_heads},
                                 .norm_place = variant.pre_norm ? NormPlace::pre : NormPlace::post,
                                 .cross = variant.cross},
                       .layers = 2};
    if (variant.turns) config.block.attention.rotary = RotaryOptions{};
    return config;
  }

  Variant variant_;
  Stack stack_;
};

class StackBits : public ::testing::TestWithParam<Variant> {};
class CachedStackBits : public ::testing::TestWithParam<Variant> {};

TEST_P(StackBits, AloneInAnyBatchWithAnyThreads) {
  const Model model(GetParam());
  const std::vector<Tokens> sequences = {make_tokens("a", 7), make_tokens("b", 1), make_tokens("c", 150),
                                         make_tokens("d", 33)};
  std::vector<Tensor> alone;
  for (const Tokens& tokens : sequences) alone.push_back(model.run({tokens}));
  for (const std::vector<std::size_t>& packing :
       {std::vector<std::size_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 2}, {1, 3, 1}}) {
    std::vector<Tokens> batch;
    for (std::size_t s : packing) batch.push_back(sequences[s]);
    for (int threads = 1; threads <= 4; ++threads) {
      ThreadLimit limit(threads);
      const Packed together(model.run(batch), packed(batch, &Tokens::x).offsets);
      for (std::size_t b = 0; b < packing.size(); ++b) {
        EXPECT_TRUE(same_bits(together.sequence(static_cast<std::int64_t>(b)), alone[packing[b]]))
            << "sequence " << packing[b] << " at place " << b << " with " << threads << " threads";
      }
    }
  }
}

TEST_P(StackBits, WhenSomebodyLooks) {
  struct Counter : Probe {
    void on_tensor(const Tap&, const Tensor&) override { ++seen; }
    int seen = 0;
  } probe;
  const Model model(GetParam());
  const std::vector<Tokens> batch = {make_tokens("a", 7), make_tokens("c", 150)};
  EXPECT_TRUE(same_bits(model.run(batch), model.run(batch, Context::watched_by(probe))));
  EXPECT_GT(probe.seen, 0);
}

TEST_P(CachedStackBits, FromACacheAsInTheFullPass) {
  const Model model(GetParam());
  const Tokens a = make_tokens("a", 300), b = make_tokens("b", 300);
  const Tensor full_a = model.run({a}), full_b = model.run({b});
  const std::vector<std::int64_t> one_by_one(60, 1), chunks = {1, 5, 64, 58, 1, 129, 42};
  for (const auto& steps : {one_by_one, chunks}) {
    DecodeState state = model.start();
    std::int64_t done = 0, done_b = 0;
    for (std::int64_t count : steps) {
      const std::int64_t count_b = (count + 1) / 2;  // the other sequence goes its own pace
      const Tensor y = model.run({a.part(done, done + count), b.part(done_b, done_b + count_b)}, Context(), &state);
      ASSERT_TRUE(same_bits(y.detached_slice(0, 0, count), full_a.detached_slice(0, done, done + count))) << done;
      ASSERT_TRUE(
          same_bits(y.detached_slice(0, count, count + count_b), full_b.detached_slice(0, done_b, done_b + count_b)))
          << done_b;
      done += count, done_b += count_b;
    }
  }
}

TEST_P(CachedStackBits, OfBeamsForkedAndReordered) {
  const Model model(GetParam());
  const std::vector<Tokens> starts = {make_tokens("a", 40), make_tokens("b", 130), make_tokens("c", 7)};
  const std::vector<std::int64_t> source = {2, 0, 0, 1};
  DecodeState state = model.start();
  model.run(starts, Context(), &state);
  state.reorder(source);
  std::vector<Tokens> ends;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Tokens& start = starts[static_cast<std::size_t>(source[i])];
    ends.push_back({noise("end " + std::to_string(i), {2, kWidth}), start.x.size(0), start.memory});
  }
  const Tensor y = model.run(ends, Context(), &state);  // two tokens each
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Tokens& start = starts[static_cast<std::size_t>(source[i])];
    const Tensor full = model.run({{concat(std::vector{start.x, ends[i].x}, 0), 0, start.memory}});
    const auto beam = static_cast<std::int64_t>(i);
    EXPECT_TRUE(same_bits(y.detached_slice(0, 2 * beam, 2 * beam + 2),
                          full.detached_slice(0, ends[i].start, ends[i].start + 2)))
        << "beam " << i;
  }
}

std::string variant_name(const ::testing::TestParamInfo<Variant>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Transformer, StackBits, ::testing::ValuesIn(variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Transformer, CachedStackBits, ::testing::ValuesIn(causal_variants()), variant_name);

}  // namespace
}  // namespace heed

// The cache itself: what it holds, what sequences share, and decoding with sequences that come and go. That steps have
// the bits of the full pass for every kind of attention is in same_bits_test.cpp.
#include "heed/attention/cache.h"

#include <gtest/gtest.h>

#include "attention/variants.h"
#include "heed/attention/reference.h"
#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"
#include "support/error_of.h"

namespace heed {
namespace {

using namespace testing;
using kernels::kKeyBlock;

const Variant kPlain{"causal", 2, 2, Mask::causal()};

void append(KeyValueCache& cache, const std::vector<Tokens>& added) {
  cache.append(joined(added, &Tokens::k), joined(added, &Tokens::v), offsets_of(added));
}

std::string refused(const std::function<void()>& call) {
  return test::error_of(ErrorKind::invalid_argument, call);
}

// A request of a server: joins at a step with its prompt, waits at every `pause`-th step, leaves when it is complete.
struct Request {
  Tokens tokens;
  std::int64_t joins, prompt, pause;
  Tensor full{};  // its full pass
  std::int64_t done = 0;
  std::int64_t next(std::int64_t step) const {
    if (done == 0) return prompt;
    return step % pause == 0 ? 0 : 1;
  }
};

// Decodes all requests together and compares every row with the full pass.
void serve(const Variant& variant, std::vector<Request> waiting) {
  for (Request& request : waiting) request.full = attend(input_of(variant, {request.tokens}));
  KeyValueCache cache(variant.key_heads, kWidth, kWidth);
  std::vector<Request> active;
  for (std::int64_t at = 0; !waiting.empty() || !active.empty(); ++at) {
    for (auto next = waiting.begin(); next != waiting.end();) {
      if (next->joins > at) {
        ++next;
        continue;
      }
      active.push_back(*next);
      next = waiting.erase(next);
      cache.add_sequences(1);
    }
    std::vector<Tokens> added;
    for (const Request& request : active) {
      added.push_back(request.tokens.part(request.done, request.done + request.next(at)));
    }
    if (active.empty()) continue;
    const Packed y(step(variant, added, cache), offsets_of(added));
    std::vector<std::int64_t> stay;
    std::vector<Request> remaining;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const auto b = static_cast<std::int64_t>(i);
      Request& request = active[i];
      const std::int64_t end = request.done + request.next(at);
      ASSERT_TRUE(same_bits(y.sequence(b), request.full.detached_slice(0, request.done, end)))
          << "request of " << request.tokens.length() << " tokens, tokens " << request.done << " to " << end;
      request.done = end;
      ASSERT_EQ(cache.length(b), end);
      if (end == request.tokens.length()) continue;
      stay.push_back(b);
      remaining.push_back(request);
    }
    if (stay.size() < active.size()) cache.reorder(stay);
    active = std::move(remaining);
  }
  EXPECT_EQ(cache.sequences(), 0);
  EXPECT_EQ(cache.bytes(), 0);
}

TEST(KeyValueCacheThreads, SequencesComeAndGoWithTheBitsOfTheFullPass) {
  const std::vector<Variant> kinds = {{"grouped, causal", 4, 2, Mask::causal()},
                                      {"causal window", 4, 2, Mask::causal() & Mask::window(200, 0)},
                                      {"ALiBi, causal", 4, 1, Mask::causal(), false, {alibi_term()}}};
  for (const Variant& variant : kinds) {
    for (int threads : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << variant.name << ", threads " << threads);
      const ThreadLimit limit(threads);
      const auto tokens = [&](std::int64_t length) { return make_tokens(variant, std::to_string(length), length); };
      serve(variant, {{tokens(191), 0, 150, 7},
                      {tokens(192), 0, 191, 7},
                      {tokens(193), 3, 1, 1000},
                      {tokens(400), 5, 383, 3},
                      {tokens(1000), 9, 700, 1000},
                      {tokens(17), 100, 1, 2},
                      {tokens(1), 120, 1, 2}});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(KeyValueCache, ForksDivergeAndSharePagesUntilThen) {
  constexpr std::int64_t kBeams = 8, kSteps = 30;
  const Tokens prompt = make_tokens(kPlain, "prompt", 1000);
  KeyValueCache cache(2, kWidth, kWidth);
  step(kPlain, {prompt}, cache);
  const std::int64_t before = cache.bytes();
  cache.reorder(std::vector<std::int64_t>(kBeams, 0));
  EXPECT_EQ(cache.bytes(), before);

  // The last page holds 1000 - 5 * 192 = 40 tokens and has room for 64.
  KeyValueCache last_page(2, kWidth, kWidth);
  append(last_page, {prompt.part(960, 1000)});
  std::vector<Tokens> ends;
  for (std::int64_t i = 0; i < kBeams; ++i) {
    ends.push_back(make_tokens(kPlain, "end " + std::to_string(i), kSteps));
    ends.back().start = 1000;
  }
  std::vector<Tensor> full;
  for (const Tokens& end : ends) {
    const std::vector<Tokens> pieces = {prompt, end};
    full.push_back(attend(
        input_of(kPlain, {{joined(pieces, &Tokens::q), joined(pieces, &Tokens::k), joined(pieces, &Tokens::v)}})));
  }
  for (std::int64_t t = 0; t < kSteps; ++t) {
    std::vector<Tokens> added;
    for (const Tokens& end : ends) added.push_back(end.part(t, t + 1));
    const Tensor y = step(kPlain, added, cache);
    for (std::int64_t i = 0; i < kBeams; ++i) {
      ASSERT_TRUE(same_bits(y.detached_slice(0, i, i + 1),
                            full[static_cast<std::size_t>(i)].detached_slice(0, 1000 + t, 1001 + t)))
          << "beam " << i << " step " << t;
    }
    // All but the last beam to write copy the page; it grows when the 64 are full.
    if (1000 - 960 + t < 64) {
      EXPECT_EQ(cache.bytes(), before + (kBeams - 1) * last_page.bytes()) << t;
    } else {
      EXPECT_EQ(cache.bytes(), before - last_page.bytes() + kBeams * 2 * last_page.bytes()) << t;
    }
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(cache.pages<float>(0)[i].data, cache.pages<float>(7)[i].data) << i;
  cache.reorder(std::vector<std::int64_t>{3});
  EXPECT_EQ(cache.bytes(), before + last_page.bytes());
}

TEST(KeyValueCache, ACopyIsItsOwn) {
  const Tokens tokens = make_tokens(kPlain, "a", 300);
  KeyValueCache cache(2, kWidth, kWidth);
  append(cache, {tokens.part(0, 200)});
  KeyValueCache copy = cache;
  append(copy, {tokens.part(250, 254)});
  append(cache, {tokens.part(200, 204)});
  append(cache, {tokens.part(204, 300)});
  EXPECT_TRUE(same_bits(cache.keys(), tokens.k));
  EXPECT_TRUE(same_bits(copy.keys().detached_slice(0, 0, 200), tokens.k.detached_slice(0, 0, 200)));
  EXPECT_TRUE(same_bits(copy.values().detached_slice(0, 200, 204), tokens.v.detached_slice(0, 250, 254)));
}

template <class T>
class KeyValueCacheOf : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KeyValueCacheOf, Floats);

// Every way of cutting a sequence into appends, over page borders and growing pages, with widths that fill no panel.
TYPED_TEST(KeyValueCacheOf, HoldsWhatWasAppended) {
  constexpr DType dtype = kDTypeOf<TypeParam>;
  constexpr std::int64_t kTokens = 420;
  const Tensor keys = values("k", {kTokens, 3, 5}).detached_to(dtype),
               values_ = values("v", {kTokens, 3, 19}).detached_to(dtype);
  for (std::int64_t chunk : {1, 3, 16, 17, 100, 192, 193, 420}) {
    KeyValueCache cache(3, 5, 19, dtype);
    cache.add_sequences(2);
    for (std::int64_t at = 0; at < kTokens; at += chunk) {
      const std::int64_t end = std::min(kTokens, at + chunk), later = std::max<std::int64_t>(0, end - 200);
      // The second sequence gets the tokens from 200 on, some steps nothing.
      const std::int64_t behind = std::max<std::int64_t>(0, at - 200);
      const auto both = [&](const Tensor& x) {
        return concat(std::vector{x.detached_slice(0, at, end), x.detached_slice(0, 200 + behind, 200 + later)}, 0);
      };
      cache.append(both(keys), both(values_), {end - at, later - behind});
    }
    EXPECT_EQ(cache.offsets(), (Offsets{420, 220}));
    EXPECT_TRUE(same_bits(cache.keys(), concat(std::vector{keys, keys.detached_slice(0, 200, 420)}, 0))) << chunk;
    EXPECT_TRUE(same_bits(cache.values(), concat(std::vector{values_, values_.detached_slice(0, 200, 420)}, 0)))
        << chunk;
    cache.truncate(0, 190);
    cache.truncate(1, 0);
    EXPECT_TRUE(same_bits(cache.keys(), keys.detached_slice(0, 0, 190))) << chunk;
  }
}

TEST(KeyValueCache, TruncatedTailsAreForgotten) {
  const Tokens old = make_tokens(kPlain, "old", 500), fresh = make_tokens(kPlain, "fresh", 500);
  const Tensor full_old = attend(input_of(kPlain, {old}));
  for (std::int64_t kept : {0, 1, 190, 192, 193, 384, 499}) {
    KeyValueCache cache(2, kWidth, kWidth);
    append(cache, {old.part(0, 499)});
    cache.reorder(std::vector<std::int64_t>{0, 0});
    cache.truncate(0, kept);
    Tokens tail = fresh.part(kept, 500);
    const Packed y(step(kPlain, {tail, old.part(499, 500)}, cache), {500 - kept, 1});
    const std::vector<Tokens> pieces = {old.part(0, kept), tail};
    const Tensor full = attend(
        input_of(kPlain, {{joined(pieces, &Tokens::q), joined(pieces, &Tokens::k), joined(pieces, &Tokens::v)}}));
    EXPECT_TRUE(same_bits(y.sequence(0), full.detached_slice(0, kept, 500))) << kept;
    EXPECT_TRUE(same_bits(y.sequence(1), full_old.detached_slice(0, 499, 500))) << "the fork of " << kept;
  }
}

// Everything that attend() takes beside q, k and v, with sequences of several pages and query_start of its own.
TYPED_TEST(KeyValueCacheOf, GivesTheBitsOfTensorsAndTheirDefinition) {
  constexpr DType dtype = kDTypeOf<TypeParam>;
  const std::vector<std::int64_t> lengths = {400, 3, 193, 0};
  const Offsets keys{std::span<const std::int64_t>(lengths)}, queries{5, 2, 60, 0};
  KeyValueCache cache(2, 6, 10, dtype);
  cache.append(values("k", {596, 2, 6}).detached_to(dtype), values("v", {596, 2, 10}).detached_to(dtype), keys);
  const Tensor q = values("q", {67, 4, 6}).detached_to(dtype), table = values("table", {9, 6}).detached_to(dtype);
  const AttentionInput plain{.q = q, .k = cache.keys(), .v = cache.values(), .queries = queries, .keys = keys};
  const auto with = [&](const std::function<void(AttentionInput&)>& change) {
    AttentionInput in = plain;
    change(in);
    return in;
  };
  const std::vector<AttentionInput> inputs = {
      plain,
      with([](AttentionInput& in) { in.mask = Mask::causal() & Mask::window(230, 0); }),
      with([](AttentionInput& in) {
        in.query_start = {0, 1, 130, 0}, in.mask = Mask::causal();
      }),
      with([](AttentionInput& in) {
        in.terms = {alibi_term(), soft_cap_term(3)};
      }),
      with([&](AttentionInput& in) {
        in.terms = {bucket_bias_term(values("b", {8, 4}).detached_to(dtype))};
      }),
      with([&](AttentionInput& in) { in.terms = {relative_key_term(q, table)}; }),
      with([&](AttentionInput& in) { in.terms = {relative_query_term(in.k, table)}; }),
      with([&](AttentionInput& in) {
        in.relative_values = values("r", {5, 10}).detached_to(dtype);
      }),
      with([&](AttentionInput& in) { in.additive = AdditiveScore{values("w", {6}).detached_to(dtype)}; }),
      with([](AttentionInput& in) {
        in.dropout = AttentionDropout{0.3, {1, 2}};
      }),
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    SCOPED_TRACE(i);
    AttentionInput cached = inputs[i];
    cached.k = cached.v = Tensor();
    cached.cache = &cache;
    AttentionSummary expected, found;
    const Tensor y = attend(cached, &found);
    EXPECT_TRUE(same_bits(y, attend(inputs[i], &expected)));
    EXPECT_TRUE(same_bits(found.entropy, expected.entropy));
    EXPECT_TRUE(same_bits(found.link_keys, expected.link_keys));
    EXPECT_TRUE(same_bits(found.log_sum, expected.log_sum));
    EXPECT_TRUE(same_bits(attention_rows(cached, found.log_sum, 2, 3, 1, 59),
                          attention_rows(inputs[i], expected.log_sum, 2, 3, 1, 59)));
    const auto fast = y.template to_vector<TypeParam>();
    const auto defined = attend_reference(cached).detached_contiguous().template to_vector<TypeParam>();
    ASSERT_EQ(fast.size(), defined.size());
    for (std::size_t j = 0; j < fast.size(); ++j) ASSERT_NEAR(fast[j], defined[j], dtype == DType::f32 ? 2e-5 : 1e-12);
  }
}

// Keys that no later query sees are released, page by page, while every row keeps the bits of the full pass; forks and
// truncated sequences too.
TEST(KeyValueCache, AWindowBoundsItsMemory) {
  constexpr std::int64_t kTokens = 1500;
  KeyValueCache page(2, kWidth, kWidth);
  append(page, {make_tokens(kPlain, "page", kKeyBlock)});
  for (const std::int64_t window : {1, 2, 100, 192, 193, 194, 500}) {
    const Variant variant{"window", 2, 2, Mask::causal() & Mask::window(window - 1, 0)};
    const Tokens tokens = make_tokens(variant, "a", kTokens);
    const Tensor full = attend(input_of(variant, {tokens}));
    for (const std::int64_t chunk : {1, 70, 192, 400}) {
      SCOPED_TRACE(::testing::Message() << "window " << window << ", chunks of " << chunk);
      KeyValueCache cache(2, kWidth, kWidth, DType::f32, window);
      const std::int64_t most = ((window + chunk) / kKeyBlock + 2) * page.bytes();
      for (std::int64_t at = 0; at < kTokens; at += chunk) {
        const std::int64_t end = std::min(kTokens, at + chunk);
        // A step that failed is taken back, and repeated.
        append(cache, {tokens.part(at, end)});
        ASSERT_TRUE(cache.keeps(0, at));
        cache.truncate(0, at);
        ASSERT_TRUE(same_bits(step(variant, {tokens.part(at, end)}, cache), full.detached_slice(0, at, end))) << at;
        ASSERT_LE(cache.bytes(), most) << at;
      }
      EXPECT_EQ(cache.length(0), kTokens);
    }
  }
}

TEST(KeyValueCache, ForksOfAWindowEndWhereKeysAreReleased) {
  constexpr std::int64_t kWindow = 250;
  const Variant variant{"window", 2, 2, Mask::causal() & Mask::window(kWindow - 1, 0)};
  const Tokens tokens = make_tokens(variant, "a", 1000);
  const Tensor full = attend(input_of(variant, {tokens}));
  KeyValueCache cache(2, kWidth, kWidth, DType::f32, kWindow), other = cache;
  append(cache, {tokens.part(0, 900)});
  EXPECT_EQ(cache.first_key(0), 0);  // what one append() brings can be taken back
  append(cache, {tokens.part(900, 901)});
  EXPECT_EQ(cache.first_key(0), 576);  // 900 - 249 = 651 is in the page from 576 on
  for (const std::int64_t kept : {825, 864, 900}) {
    ASSERT_TRUE(cache.keeps(0, kept));
    other.add_fork(cache, 0, kept);
    const auto fork = other.sequences() - 1;
    EXPECT_EQ(other.length(fork), kept);
    std::vector<Tokens> added(static_cast<std::size_t>(fork), tokens.part(0, 0));
    added.push_back(tokens.part(kept, 1000));
    EXPECT_TRUE(same_bits(step(variant, added, other), full.detached_slice(0, kept, 1000))) << kept;
  }
  EXPECT_TRUE(same_bits(step(variant, {tokens.part(901, 1000)}, cache), full.detached_slice(0, 901, 1000)));
  for (const std::int64_t gone : {824, 576, 1}) {
    EXPECT_FALSE(cache.keeps(0, gone)) << gone;
    EXPECT_NE(refused([&] { cache.truncate(0, gone); }).find("released"), std::string::npos);
    EXPECT_NE(refused([&] { other.add_fork(cache, 0, gone); }).find("released"), std::string::npos);
  }
  EXPECT_NE(refused([&] { cache.keys(); }).find("released"), std::string::npos);
  // A mask that sees further than the cache was told.
  const Variant wider{"window", 2, 2, Mask::causal() & Mask::window(700, 0)};
  EXPECT_NE(refused([&] { step(wider, {tokens.part(0, 1)}, cache); }).find("released"), std::string::npos);
  EXPECT_NE(refused([&] { KeyValueCache(2, kWidth, kWidth).add_fork(cache, 0, 0); }).find("shape"), std::string::npos);
  cache.truncate(0, 0);
  EXPECT_EQ(cache.bytes(), 0);
  EXPECT_TRUE(same_bits(step(variant, {tokens.part(0, 300)}, cache), full.detached_slice(0, 0, 300)));
}

TEST(KeyValueCacheMemory, ASteadyStepAllocatesNothing) {
  // Every thread that helps has scratch memory of its own, and how many get to help is a matter of timing.
  const ThreadLimit limit(1);
  NoGrad no_grad;
  const Tokens tokens = make_tokens(kPlain, "a", 192);
  KeyValueCache cache(2, kWidth, kWidth);
  append(cache, {tokens.part(0, 130), tokens.part(0, 129), tokens.part(0, 140)});  // room for 192 each
  const std::int64_t before = cache.bytes();
  const auto* page = cache.pages<float>(1)[0].data;
  PoolStats warm{};
  for (std::int64_t t = 140; t < 190; ++t) {
    const Tokens next = tokens.part(t, t + 1);
    step(kPlain, {next, next, next}, cache);
    if (t == 141) warm = pool_stats();
    ASSERT_EQ(cache.pages<float>(1)[0].data, page) << "copied at step " << t;
  }
  const PoolStats after = pool_stats();
  EXPECT_EQ(cache.bytes(), before);
  EXPECT_EQ(after.system_allocations, warm.system_allocations);
  EXPECT_EQ(after.in_use_bytes, warm.in_use_bytes);
}

TEST(KeyValueCache, MisuseIsNamed) {
  KeyValueCache cache(2, 4, 4);
  const Tensor four = Tensor::zeros({4, 2, 4});
  EXPECT_NE(refused([&] { cache.append(Tensor::zeros({4, 2, 5}), four, {4}); }).find("[4, 2, 5]"), std::string::npos);
  cache.add_sequences(2);
  EXPECT_NE(refused([&] { cache.append(four, four, {4}); }).find("1 sequences appended to 2"), std::string::npos);
  cache.append(four, four, {3, 1});
  refused([&] { cache.reorder(std::vector<std::int64_t>{0, 2}); });
  EXPECT_EQ(cache.sequences(), 2);
  refused([&] { cache.truncate(1, 2); });
  refused([&] { cache.truncate(2, 0); });
  refused([&] { cache.length(-1); });
  refused([&] { cache.add_sequences(-1); });
  refused([] { KeyValueCache(0, 4, 4); });

  AttentionInput in{.q = Tensor::zeros({2, 4, 4}), .queries = {1, 1}, .keys = cache.offsets(), .cache = &cache};
  EXPECT_EQ(attend(in).shape(), Shape({2, 4, 4}));
  AttentionInput bad = in;
  bad.q.set_requires_grad();
  EXPECT_NE(refused([&] { attend(bad); }).find("no gradients"), std::string::npos);
  bad = in;
  bad.k = four;
  EXPECT_NE(refused([&] { attend(bad); }).find("beside a cache"), std::string::npos);
  bad = in;
  bad.keys = {4, 0};
  EXPECT_NE(refused([&] { attend(bad); }).find("offsets"), std::string::npos);
  bad = in;
  bad.q = Tensor::zeros({2, 4, 5});
  EXPECT_NE(refused([&] { attend(bad); }).find("width 4"), std::string::npos);
  bad = in;
  bad.q = Tensor::zeros({2, 3, 4});
  EXPECT_NE(refused([&] { attend(bad); }).find("not a multiple"), std::string::npos);
  EXPECT_NE(refused([&] { attend_fused(Tensor::zeros({2, 32}), 4, 2, in); }).find("beside a cache"), std::string::npos);
}

}  // namespace
}  // namespace heed

// Law 1 for attend(): one sequence has one result, whatever its neighbours, however many threads work, with
// or without a probe, and whether its keys come from a cache.
#include <gtest/gtest.h>

#include "attention/variants.h"
#include "heed/base/parallel.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

using namespace testing;

// The output and the gradients of q, k and v, in this order.
std::vector<Tensor> results(const Variant& variant, const std::vector<Tokens>& batch) {
  AttentionInput in = input_of(variant, batch);
  in.q.set_requires_grad(), in.k.set_requires_grad(), in.v.set_requires_grad();
  const Tensor y = attend(in);
  backward(y, in.q.detach());  // a function of the sequence alone
  return {y.detach(), in.q.grad(), in.k.grad(), in.v.grad()};
}

class SameBits : public ::testing::TestWithParam<Variant> {};
class CachedBits : public ::testing::TestWithParam<Variant> {};

TEST_P(SameBits, AloneAndInAnyBatch) {
  const std::vector<std::int64_t> lengths = {150, 1, 40, 33, 290, 7};
  std::vector<Tokens> sequences;
  std::vector<std::vector<Tensor>> alone;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    sequences.push_back(make_tokens(GetParam(), std::to_string(s), lengths[s]));
    alone.push_back(results(GetParam(), {sequences[s]}));
  }
  for (const std::vector<std::size_t>& packing :
       {std::vector<std::size_t>{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0}, {1, 1, 4}, {2, 5, 2}}) {
    std::vector<Tokens> batch;
    for (std::size_t s : packing) batch.push_back(sequences[s]);
    const Offsets offsets = offsets_of(batch);
    const auto together = results(GetParam(), batch);
    for (std::size_t b = 0; b < packing.size(); ++b) {
      const auto i = static_cast<std::int64_t>(b);
      for (std::size_t r = 0; r < together.size(); ++r) {
        EXPECT_TRUE(same_bits(together[r].detached_slice(0, offsets.begin(i), offsets.end(i)), alone[packing[b]][r]))
            << "sequence " << packing[b] << " at place " << b << " of " << packing.size() << ", result " << r;
      }
    }
  }
}

TEST_P(SameBits, WithAnyNumberOfThreads) {
  const std::vector<Tokens> batch = {make_tokens(GetParam(), "0", 290), make_tokens(GetParam(), "1", 3)};
  std::vector<Tensor> expected;
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadLimit limit(threads);
    const auto found = results(GetParam(), batch);
    if (threads == 1) expected = found;
    for (std::size_t r = 0; r < found.size(); ++r) EXPECT_TRUE(same_bits(found[r], expected[r])) << threads << ' ' << r;
  }
}

TEST_P(SameBits, WhenSomebodyLooks) {
  const AttentionInput in = input_of(GetParam(), {make_tokens(GetParam(), "0", 150), make_tokens(GetParam(), "1", 3)});
  const Tensor plain = attend(in);
  for (std::int64_t top_k : {1, 8, 16}) {
    AttentionSummary summary{.top_k = top_k};
    EXPECT_TRUE(same_bits(attend(in, &summary), plain)) << top_k;
  }
  attention_rows(in, 0, 1, 0, 150);
  EXPECT_TRUE(same_bits(attend(in), plain));
}

TEST_P(CachedBits, FromACacheAsInTheFullPass) {
  const Tokens a = make_tokens(GetParam(), "a", 290), b = make_tokens(GetParam(), "b", 290);
  const Tensor full_a = attend(input_of(GetParam(), {a})), full_b = attend(input_of(GetParam(), {b}));
  const std::vector<std::int64_t> one_by_one(290, 1), chunks = {1, 5, 64, 58, 1, 129, 32};
  for (const auto& steps : {one_by_one, chunks}) {
    KeyValueCache cache(GetParam().key_heads, kWidth, kWidth);
    std::int64_t done = 0, done_b = 0;
    for (std::int64_t count : steps) {
      const std::int64_t count_b = (count + 1) / 2;  // the other sequence goes its own pace
      const Tensor y = step(GetParam(), {a.part(done, done + count), b.part(done_b, done_b + count_b)}, cache);
      ASSERT_TRUE(same_bits(y.detached_slice(0, 0, count), full_a.detached_slice(0, done, done + count))) << done;
      ASSERT_TRUE(
          same_bits(y.detached_slice(0, count, count + count_b), full_b.detached_slice(0, done_b, done_b + count_b)))
          << done_b;
      done += count, done_b += count_b;
    }
  }
}

TEST_P(CachedBits, OfBeamsForkedAndReordered) {
  // Three beams of their own; then beams 2, 0, 0, 1 go on, each with tokens of its own.
  std::vector<Tokens> starts, ends;
  for (std::int64_t length : {40, 130, 7}) starts.push_back(make_tokens(GetParam(), std::to_string(length), length));
  const std::vector<std::int64_t> source = {2, 0, 0, 1};
  KeyValueCache cache(GetParam().key_heads, kWidth, kWidth);
  step(GetParam(), starts, cache);
  cache.reorder(source);
  for (std::size_t i = 0; i < source.size(); ++i) {
    ends.push_back(make_tokens(GetParam(), "end " + std::to_string(i), 3));
    ends[i].start = starts[static_cast<std::size_t>(source[i])].length();
  }
  for (std::int64_t t = 0; t < 3; ++t) {
    std::vector<Tokens> added;
    for (const Tokens& end : ends) added.push_back(end.part(t, t + 1));
    const Tensor y = step(GetParam(), added, cache);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::vector<Tokens> pieces = {starts[static_cast<std::size_t>(source[i])], ends[i]};
      const Tokens whole{joined(pieces, &Tokens::q), joined(pieces, &Tokens::k), joined(pieces, &Tokens::v)};
      const Tensor full = attend(input_of(GetParam(), {whole}));
      const auto beam = static_cast<std::int64_t>(i);
      EXPECT_TRUE(same_bits(y.detached_slice(0, beam, beam + 1),
                            full.detached_slice(0, ends[i].start + t, ends[i].start + t + 1)))
          << "beam " << i << " step " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Attend, SameBits, ::testing::ValuesIn(variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Attend, CachedBits, ::testing::ValuesIn(causal_variants()), variant_name);

}  // namespace
}  // namespace heed

// attend() against its definition in plain ops, for every kind of score, mask and term.
#include <sstream>

#include "heed/attention/attend.h"
#include "heed/attention/custom.h"
#include "heed/attention/reference.h"
#include "heed/attention/relative_terms.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

struct Heads {
  std::int64_t query = 2, key = 2, width = 5, value_width = 3;
};

using Lengths = std::vector<std::int64_t>;

// Builds the input from q, k, v and the case's further tensors.
using Build = std::function<void(AttentionInput&, Inputs)>;

void add_case(std::vector<OpCase>& cases, const std::string& name, const Heads& heads, const Lengths& queries,
              const Lengths& keys, std::vector<Input> more = {}, const Build& build = {}) {
  const Offsets query_offsets{std::span<const std::int64_t>(queries)}, key_offsets{std::span<const std::int64_t>(keys)};
  auto input = [=](Inputs t) {
    AttentionInput in{.q = t[0], .k = t[1], .v = t[2], .queries = query_offsets, .keys = key_offsets};
    if (build) build(in, t);
    return in;
  };
  std::vector<Input> inputs = {value_input("q", {query_offsets.tokens(), heads.query, heads.width}),
                               value_input("k", {key_offsets.tokens(), heads.key, heads.width}),
                               value_input("v", {key_offsets.tokens(), heads.key, heads.value_width})};
  inputs.insert(inputs.end(), more.begin(), more.end());
  double pairs = 0;
  for (std::size_t b = 0; b < queries.size(); ++b) pairs += static_cast<double>(queries[b] * keys[b]);
  cases.push_back({.op = "attend",
                   .name = name,
                   .inputs = inputs,
                   .run = [input](Inputs t) { return attend(input(t)); },
                   .reference = [input](Inputs t) { return attend_reference(input(t)).detached_contiguous(); },
                   .flops = 2 * pairs * static_cast<double>(heads.query * (heads.width + heads.value_width))});
}

void add_masks(std::vector<OpCase>& cases, const Lengths& n) {
  auto mask = [](Mask m) { return [m](AttentionInput& in, Inputs) { in.mask = m; }; };
  const Heads heads;
  add_case(cases, "causal", heads, n, n, {}, mask(Mask::causal()));
  add_case(cases, "window", heads, n, n, {}, mask(Mask::window(1, 2)));
  add_case(cases, "causal window", heads, n, n, {}, mask(Mask::causal() & Mask::window(2, 0)));
  add_case(cases, "prefix", heads, n, n, {}, mask(Mask::prefix(2)));
  Lengths shorter, segments;
  for (std::int64_t length : n) shorter.push_back(length / 2);  // a sequence of one token sees nothing
  add_case(cases, "lengths", heads, n, n, {}, mask(Mask::lengths(shorter)));
  for (std::int64_t length : n) {
    for (std::int64_t i = 0; i < length; ++i) segments.push_back(i < 2 ? 7 : 3);
  }
  add_case(cases, "segments", heads, n, n, {}, mask(Mask::segments(segments)));
  add_case(cases, "segments causal", heads, n, n, {}, mask(Mask::segments(segments) & Mask::causal()));
}

struct Warp {
  template <class Number>
  Number operator()(Number score, const ScorePosition& at) const {
    using std::tanh;
    return score * 0.5 + tanh(score * score) + 0.01 * static_cast<double>(at.distance());
  }
};

void add_terms(std::vector<OpCase>& cases, const Lengths& n) {
  const Heads heads{4, 2, 5, 3};
  const std::int64_t tokens = Offsets(std::span<const std::int64_t>(n)).tokens();
  std::int64_t longest = 0;
  for (std::int64_t length : n) longest = std::max(longest, length);
  auto term = [](auto make) { return [make](AttentionInput& in, Inputs t) { in.terms.push_back(make(t)); }; };
  add_case(cases, "soft-cap", heads, n, n, {}, term([](Inputs) { return soft_cap_term(0.8); }));
  add_case(cases, "alibi", heads, n, n, {}, term([](Inputs) { return alibi_term(); }));
  add_case(cases, "bias for all", heads, n, n, {value_input("bias", {longest, longest})},
           term([](Inputs t) { return bias_term(t[3]); }));
  add_case(cases, "bias per head", heads, n, n, {value_input("bias", {4, longest, longest})},
           term([](Inputs t) { return bias_term(t[3]); }));
  add_case(cases, "bias per sequence and key", heads, n, n,
           {value_input("bias", {static_cast<std::int64_t>(n.size()), 1, 1, longest})},
           term([](Inputs t) { return bias_term(t[3]); }));
  add_case(cases, "mask tensor", heads, n, n, {id_input("mask", {longest, longest}, 2)},
           term([](Inputs t) { return mask_term(t[3]); }));
  add_case(cases, "buckets", heads, n, n, {value_input("table", {8, 4})},
           term([](Inputs t) { return bucket_bias_term(t[3], {.max_distance = 6}); }));
  add_case(cases, "causal buckets", heads, n, n, {value_input("table", {8, 4})}, [](AttentionInput& in, Inputs t) {
    in.mask = Mask::causal();
    in.terms.push_back(bucket_bias_term(t[3], {.bidirectional = false, .max_distance = 6}));
  });
  add_case(cases, "Shaw's relative keys", heads, n, n, {value_input("table", {5, 5})},
           term([](Inputs t) { return relative_key_term(t[0], t[3]); }));
  add_case(cases, "relative queries", heads, n, n, {value_input("table", {5, 5})},
           term([](Inputs t) { return relative_query_term(t[1], t[3]); }));
  add_case(cases, "Transformer-XL's position terms", heads, n, n,
           {value_input("q + v", {tokens, 4, 5}), value_input("table", {2 * longest + 1, 4, 5})},
           term([](Inputs t) { return relative_key_term(t[3], t[4]); }));
  add_case(cases, "Shaw's relative values", heads, n, n, {value_input("table", {5, 3})},
           [](AttentionInput& in, Inputs t) { in.relative_values = t[3]; });
  add_case(cases, "Shaw's keys and values, causal, a table per head", heads, n, n,
           {value_input("keys", {3, 4, 5}), value_input("values", {7, 4, 3})}, [](AttentionInput& in, Inputs t) {
             in.mask = Mask::causal();
             in.terms.push_back(relative_key_term(t[0], t[3]));
             in.relative_values = t[4];
           });
  add_case(cases, "a score of the user", heads, n, n, {}, term([](Inputs) { return custom_score(Warp{}); }));
  add_case(cases, "a mask of the user", heads, n, n, {},
           term([](Inputs) { return custom_mask([](const ScorePosition& at) { return at.distance() % 2 == 0; }); }));
  add_case(cases, "several terms", heads, n, n, {value_input("bias", {longest, longest})},
           [](AttentionInput& in, Inputs t) {
             in.mask = Mask::causal();
             in.terms = {soft_cap_term(2), bias_term(t[3]), alibi_term({0.1, 0.2, 0.3, 0.4})};
           });
}

}  // namespace

void add_attention_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) {
    add_case(cases, "12x64 n=512", {12, 12, 64, 64}, {512}, {512});
    add_case(cases, "12x64 n=512 causal", {12, 12, 64, 64}, {512}, {512}, {},
             [](AttentionInput& in, Inputs) { in.mask = Mask::causal(); });
    add_case(cases, "8x16 dropout, relative values", {8, 4, 16, 16}, {200, 17}, {200, 17},
             {value_input("table", {17, 16})}, [](AttentionInput& in, Inputs t) {
               in.mask = Mask::causal();
               in.dropout = AttentionDropout{0.1, {7, 9}};
               in.relative_values = t[3];
             });
    add_case(cases, "12x32 ragged", {12, 12, 32, 32}, {128, 17, 1, 300}, {128, 17, 1, 300});
    return;
  }
  const Heads heads;
  add_case(cases, "one token", {1, 1, 1, 1}, {1}, {1});
  add_case(cases, "ragged", heads, {3, 1, 0, 6}, {3, 1, 0, 6});
  add_case(cases, "one wide head", {1, 1, 37, 19}, {5}, {5});
  add_case(cases, "grouped heads", {4, 2, 5, 3}, {4, 3}, {4, 3});
  add_case(cases, "one key head", {3, 1, 4, 4}, {5}, {5});
  add_case(cases, "cross", heads, {2, 4}, {5, 3});
  add_case(cases, "cross, no keys", heads, {2, 2}, {0, 3});
  add_case(cases, "longer than a block", {2, 1, 4, 4}, {140}, {140}, {},
           [](AttentionInput& in, Inputs) { in.mask = Mask::causal() & Mask::window(20, 0); });
  add_case(cases, "own scale", heads, {4}, {4}, {}, [](AttentionInput& in, Inputs) { in.scale = 0.3; });
  add_case(cases, "last queries of a cache", heads, {2, 1}, {5, 4}, {},
           [](AttentionInput& in, Inputs) { in.mask = Mask::causal(); });
  add_case(cases, "given start", heads, {3, 2}, {6, 4}, {}, [](AttentionInput& in, Inputs) {
    in.mask = Mask::causal();
    in.query_start = {1, 0};
  });
  add_case(cases, "additive", heads, {3, 4}, {3, 4}, {value_input("w", {5})},
           [](AttentionInput& in, Inputs t) { in.additive = AdditiveScore{t[3]}; });
  add_case(cases, "additive, causal, a weight per head", {4, 2, 5, 3}, {4, 2}, {4, 2}, {value_input("w", {4, 5})},
           [](AttentionInput& in, Inputs t) {
             in.additive = AdditiveScore{t[3]};
             in.mask = Mask::causal();
           });
  auto drop = [](AttentionInput& in) { in.dropout = AttentionDropout{0.4, {7, 9}}; };
  add_case(cases, "dropout", {4, 2, 5, 3}, {5, 1, 4}, {5, 1, 4}, {}, [=](AttentionInput& in, Inputs) { drop(in); });
  add_case(cases, "dropout, causal, relative values", heads, {3, 4}, {3, 4}, {value_input("table", {3, 3})},
           [=](AttentionInput& in, Inputs t) {
             drop(in);
             in.mask = Mask::causal() & Mask::lengths({2, 4});
             in.relative_values = t[3];
             in.terms.push_back(soft_cap_term(2));
           });
  add_case(cases, "dropout, relative values, additive, longer than a block", {2, 1, 3, 2}, {1, 2}, {0, 195},
           {value_input("w", {3}), value_input("table", {9, 2})}, [=](AttentionInput& in, Inputs t) {
             drop(in);
             in.additive = AdditiveScore{t[3]};
             in.relative_values = t[4];
           });
  add_masks(cases, {5, 1, 4});
  add_terms(cases, {5, 1, 4});
}

}  // namespace heed::testing

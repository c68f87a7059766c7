// Kinds of self-attention that law 1 is tested with, and sequences of tokens to attend, whole or step by step.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "heed/attention/attend.h"
#include "heed/attention/cache.h"
#include "heed/attention/relative_terms.h"
#include "heed/attention/rotary.h"
#include "heed/ops/shape_ops.h"
#include "heed/tensor/autograd.h"
#include "ops/op_case.h"

namespace heed::testing {

inline constexpr std::int64_t kWidth = 20;  // no multiple of a vector

struct Variant {
  const char* name;
  std::int64_t heads, key_heads;
  Mask mask{};
  bool turns = false;  // rotary
  std::vector<Term> terms{};
  bool additive = false;
};

inline void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

inline std::vector<Variant> variants() {
  const Tensor table = values("table", {32, 4}).detached_to(DType::f32);
  const BucketOptions past{.bidirectional = false};
  return {{"heads", 4, 4},
          {"grouped", 4, 2},
          {"one key head", 4, 1},
          {"causal", 4, 4, Mask::causal()},
          {"grouped, causal", 4, 2, Mask::causal()},
          {"window", 4, 2, Mask::window(9, 3)},
          {"causal window", 4, 2, Mask::causal() & Mask::window(9, 0)},
          {"rotary", 4, 2, {}, true},
          {"rotary, causal", 4, 2, Mask::causal(), true},
          {"ALiBi", 4, 2, {}, false, {alibi_term()}},
          {"ALiBi, causal", 4, 2, Mask::causal(), false, {alibi_term()}},
          {"buckets, soft-cap, causal", 4, 4, Mask::causal(), false, {soft_cap_term(2), bucket_bias_term(table, past)}},
          {"additive, causal", 4, 4, Mask::causal(), false, {}, true}};
}

// Those whose queries see no keys of later steps.
inline std::vector<Variant> causal_variants() {
  std::vector<Variant> found;
  std::ranges::copy_if(variants(), std::back_inserter(found),
                       [](const Variant& v) { return std::string_view(v.name).find("causal") != std::string::npos; });
  return found;
}

// Tokens of one sequence: what attention is given of them.
struct Tokens {
  Tensor q, k, v;
  std::int64_t start = 0;  // position of the first
  std::int64_t length() const { return q.size(0); }
  Tokens part(std::int64_t begin, std::int64_t end) const {
    return {q.detached_slice(0, begin, end), k.detached_slice(0, begin, end), v.detached_slice(0, begin, end),
            start + begin};
  }
};

inline Tokens make_tokens(const Variant& variant, const std::string& name, std::int64_t length) {
  auto random = [&](const char* part, std::int64_t heads) {
    return values(name + part, {length, heads, kWidth}).detached_to(DType::f32);
  };
  return {random("q", variant.heads), random("k", variant.key_heads), random("v", variant.key_heads)};
}

inline Tensor joined(const std::vector<Tokens>& batch, Tensor Tokens::*part) {
  std::vector<Tensor> parts;
  for (const Tokens& tokens : batch) parts.push_back(tokens.*part);
  return concat(parts, 0);
}

inline Offsets offsets_of(const std::vector<Tokens>& batch) {
  std::vector<std::int64_t> lengths;
  for (const Tokens& tokens : batch) lengths.push_back(tokens.length());
  return Offsets(std::span<const std::int64_t>(lengths));
}

// Self-attention of a batch, positions applied.
inline AttentionInput input_of(const Variant& variant, const std::vector<Tokens>& batch) {
  AttentionInput in{.q = joined(batch, &Tokens::q),
                    .k = joined(batch, &Tokens::k),
                    .v = joined(batch, &Tokens::v),
                    .queries = offsets_of(batch),
                    .keys = offsets_of(batch),
                    .mask = variant.mask,
                    .terms = variant.terms};
  if (variant.additive) in.additive = AdditiveScore{values("w", {kWidth}).detached_to(DType::f32)};
  if (variant.turns) {
    std::vector<std::int64_t> positions;
    for (const Tokens& tokens : batch) {
      for (std::int64_t i = 0; i < tokens.length(); ++i) positions.push_back(tokens.start + i);
    }
    const Tensor ids = Tensor::from(positions, {static_cast<std::int64_t>(positions.size())});
    in.q = rotary(in.q, ids), in.k = rotary(in.k, ids);
  }
  return in;
}

// One step of decoding: new tokens of each sequence against all keys of the cache.
inline Tensor step(const Variant& variant, const std::vector<Tokens>& added, KeyValueCache& cache) {
  NoGrad no_grad;
  AttentionInput in = input_of(variant, added);
  cache.append(in.k, in.v, in.keys);
  in.k = in.v = Tensor();
  in.cache = &cache, in.keys = cache.offsets();
  return attend(in);
}

inline std::string variant_name(const ::testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

}  // namespace heed::testing

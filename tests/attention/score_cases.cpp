// Scores made of others and pointers, each against a loop written from its formula.
#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/attention/pointer.h"
#include "heed/attention/scores.h"
#include "heed/ops/normalize.h"
#include "heed/ops/shape_ops.h"
#include "ops/op_case.h"

namespace heed::testing {
namespace {

constexpr std::int64_t kHeads = 2, kWidth = 4, kValueWidth = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sequences as offsets; the last query stands at the last key.
struct Layout {
  std::vector<std::int64_t> queries, keys;
  Offsets query_offsets() const { return Offsets(std::span<const std::int64_t>(queries)); }
  Offsets key_offsets() const { return Offsets(std::span<const std::int64_t>(keys)); }
};

// o = softmax over j of score(query token, key token, head, query position - key position), keys up to the query's
// own position.
template <class Score>
Tensor causal_attention(const Layout& layout, const Tensor& v, const Score& score) {
  const Offsets queries = layout.query_offsets(), keys = layout.key_offsets();
  Tensor out = Tensor::zeros({queries.tokens(), kHeads, kValueWidth}, DType::f64);
  for (std::int64_t b = 0; b < queries.sequences(); ++b) {
    for (std::int64_t i = 0; i < queries.length(b); ++i) {
      const std::int64_t position = keys.length(b) - queries.length(b) + i;
      for (std::int64_t h = 0; h < kHeads; ++h) {
        std::vector<double> weights;
        double sum = 0;
        for (std::int64_t j = 0; j <= position; ++j) {
          weights.push_back(std::exp(score(queries.begin(b) + i, keys.begin(b) + j, h, position - j)));
          sum += weights.back();
        }
        for (std::int64_t j = 0; j <= position; ++j) {
          for (std::int64_t e = 0; e < kValueWidth; ++e) {
            out.mutable_data<double>()[((queries.begin(b) + i) * kHeads + h) * kValueWidth + e] +=
                weights[static_cast<std::size_t>(j)] / sum * v.at({keys.begin(b) + j, h, e});
          }
        }
      }
    }
  }
  return out;
}

AttentionInput causal_input(const Layout& layout, Inputs t) {
  return {.q = t[0],
          .k = t[1],
          .v = t[2],
          .queries = layout.query_offsets(),
          .keys = layout.key_offsets(),
          .mask = Mask::causal()};
}

std::vector<Input> attention_inputs(const Layout& layout) {
  return {value_input("q", {layout.query_offsets().tokens(), kHeads, kWidth}),
          value_input("k", {layout.key_offsets().tokens(), kHeads, kWidth}),
          value_input("v", {layout.key_offsets().tokens(), kHeads, kValueWidth})};
}

void add_bilinear(std::vector<OpCase>& cases, const Layout& layout, bool a_head) {
  std::vector<Input> inputs = attention_inputs(layout);
  inputs.push_back(a_head ? value_input("W", {kHeads, kWidth, kWidth}) : value_input("W", {kWidth, kWidth}));
  cases.push_back({.op = "attend",
                   .name = a_head ? "bilinear, a weight per head" : "bilinear",
                   .inputs = inputs,
                   .run = [=](Inputs t) { return attend(with_bilinear_score(causal_input(layout, t), t[3])); },
                   .reference =
                       [=](Inputs t) {
                         return causal_attention(layout, t[2],
                                                 [&](std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t) {
                                                   double score = 0;
                                                   for (std::int64_t a = 0; a < kWidth; ++a) {
                                                     for (std::int64_t b = 0; b < kWidth; ++b) {
                                                       const double w = a_head ? t[3].at({h, a, b}) : t[3].at({a, b});
                                                       score += t[0].at({i, h, a}) * w * t[1].at({j, h, b});
                                                     }
                                                   }
                                                   return score;
                                                 });
                       }});
}

// What is further away than `reach` counts as that far.
void add_transformer_xl(std::vector<OpCase>& cases, const std::string& name, const Layout& layout, std::int64_t reach) {
  constexpr std::int64_t kModel = 6;
  std::vector<Input> inputs = attention_inputs(layout);
  inputs.push_back(value_input("W_r", {kHeads * kWidth, kModel}, 0.5));
  inputs.push_back(value_input("u", {kHeads, kWidth}));
  inputs.push_back(value_input("v bias", {kHeads, kWidth}));
  // r_d, feature f of head h.
  auto position = [](const Tensor& w, std::int64_t distance, std::int64_t h, std::int64_t f) {
    double sum = 0;
    for (std::int64_t i = 0; i < kModel / 2; ++i) {
      const double angle =
          static_cast<double>(distance) / std::pow(10000.0, 2 * static_cast<double>(i) / static_cast<double>(kModel));
      sum += w.at({h * kWidth + f, i}) * std::sin(angle) + w.at({h * kWidth + f, kModel / 2 + i}) * std::cos(angle);
    }
    return sum;
  };
  cases.push_back(
      {.op = "attend",
       .name = name,
       .inputs = inputs,
       .run =
           [=](Inputs t) {
             const AttentionInput input = causal_input(layout, t);
             const Tensor codes = distance_codes(reach, kModel, t[3].dtype());
             return attend(
                 with_transformer_xl_positions(input, {distance_table(codes, Weight(t[3]), kHeads), t[4], t[5]}));
           },
       .reference =
           [=](Inputs t) {
             return causal_attention(
                 layout, t[2], [&](std::int64_t i, std::int64_t j, std::int64_t h, std::int64_t distance) {
                   double content = 0, place = 0, content_bias = 0, place_bias = 0;
                   for (std::int64_t f = 0; f < kWidth; ++f) {
                     const double r = position(t[3], std::min(distance, reach), h, f), q = t[0].at({i, h, f});
                     content += q * t[1].at({j, h, f});
                     place += q * r;
                     content_bias += t[4].at({h, f}) * t[1].at({j, h, f});
                     place_bias += t[5].at({h, f}) * r;
                   }
                   return (content + place + content_bias + place_bias) / std::sqrt(double{kWidth});
                 });
           }});
}

// Pointers have one head. Query i of a sequence sees the keys from i to the end, or the whole sequence.
struct Pointing {
  Layout layout;
  Tensor reference(Inputs t, bool windowed) const {
    const Offsets queries = layout.query_offsets(), keys = layout.key_offsets();
    Tensor scores = Tensor::full({queries.tokens(), 1, keys.longest()}, -kInfinity, DType::f64);
    for (std::int64_t b = 0; b < queries.sequences(); ++b) {
      for (std::int64_t i = queries.begin(b); i < queries.end(b); ++i) {
        const std::int64_t position = keys.length(b) - queries.length(b) + i - queries.begin(b);
        for (std::int64_t j = 0; j < keys.length(b); ++j) {
          if (windowed && (j < position || j > position + 1)) continue;
          double dot = 0;
          for (std::int64_t f = 0; f < kWidth; ++f) dot += t[0].at({i, 0, f}) * t[1].at({keys.begin(b) + j, 0, f});
          scores.mutable_data<double>()[i * keys.longest() + j] = std::tanh(dot / 2);
        }
      }
    }
    return scores;
  }
  AttentionInput input(Inputs t, bool windowed) const {
    return {.q = t[0],
            .k = t[1],
            .queries = layout.query_offsets(),
            .keys = layout.key_offsets(),
            .mask = windowed ? Mask::window(0, 1) : Mask(),
            .terms = {soft_cap_term(1)}};
  }
  std::vector<Input> inputs() const {
    return {value_input("q", {layout.query_offsets().tokens(), 1, kWidth}),
            value_input("k", {layout.key_offsets().tokens(), 1, kWidth})};
  }
};

void add_pointers(std::vector<OpCase>& cases) {
  for (const bool windowed : {false, true}) {
    // The first sequence has no key at all; windows end after the last key.
    const Pointing pointing{{{1, 2, 4}, {0, 5, 4}}};
    cases.push_back({.op = "attention_scores",
                     .name = windowed ? "windows" : "all",
                     .inputs = pointing.inputs(),
                     .run = [=](Inputs t) { return softmax(attention_scores(pointing.input(t, windowed))); },
                     .reference =
                         [=](Inputs t) {
                           const Tensor scores = pointing.reference(t, windowed);
                           const std::int64_t length = scores.size(2);
                           return generate(scores.shape(), [&](std::int64_t n) {
                             const double* row = f64(scores) + n / length * length;
                             double sum = 0;
                             for (std::int64_t j = 0; j < length; ++j) sum += std::exp(row[j]);
                             return sum == 0 ? 0 : std::exp(row[n % length]) / sum;
                           });
                         }});
    const std::vector<std::int64_t> targets = {0, 3, 4, 0, 1, 2, 3};
    cases.push_back({.op = "pointer_loss",
                     .name = windowed ? "windows" : "all",
                     .inputs = pointing.inputs(),
                     .run =
                         [=](Inputs t) {
                           return pointer_loss(pointing.input(t, windowed), Tensor::from(targets, {7}),
                                               {.ignore_index = -1});
                         },
                     .reference =
                         [=](Inputs t) {
                           const Tensor scores = pointing.reference(t, windowed);
                           double loss = 0;
                           for (std::int64_t i = 1; i < 7; ++i) {  // query 0 sees nothing
                             double sum = 0;
                             for (std::int64_t j = 0; j < 5; ++j) sum += std::exp(scores.at({i, 0, j}));
                             loss += std::log(sum) - scores.at({i, 0, targets[static_cast<std::size_t>(i)]});
                           }
                           return Tensor::full({}, loss / 6, DType::f64);
                         }});
  }
}

void add_copying(std::vector<OpCase>& cases) {
  const CopySource source{.queries = {2, 1, 2}, .keys = {3, 0, 4}};
  cases.push_back({.op = "copy_mixture",
                   .name = "words outside the vocabulary",
                   .inputs = {value_input("vocabulary", {5, 6}), value_input("gate", {5}),
                              value_input("weights", {5, 4}), id_input("ids", {7}, 8)},
                   .run =
                       [=](Inputs t) {
                         CopySource with_ids = source;
                         with_ids.ids = t[3];
                         return copy_mixture(t[0], t[1], t[2], with_ids, 9);
                       },
                   .reference =
                       [=](Inputs t) {
                         return generate({5, 9}, [&](std::int64_t n) {
                           const std::int64_t i = n / 9, w = n % 9, b = i < 2 ? 0 : i < 3 ? 1 : 2;
                           double p = w < 6 ? t[1].at({i}) * t[0].at({i, w}) : 0;
                           for (std::int64_t j = 0; j < source.keys.length(b); ++j) {
                             const bool here = i64(t[3])[source.keys.begin(b) + j] == w;
                             if (here) p += (1 - t[1].at({i})) * t[2].at({i, j});
                           }
                           return p;
                         });
                       }});
  cases.push_back({.op = "probability_loss",
                   .name = "a target of probability 0",
                   .inputs = {Input(Tensor::from<double>({0.2, 0.8, 0.0, 0.5, 0.25, 0.25}, {2, 3})),
                              Input(Tensor::from<std::int64_t>({2, 1}, {2}))},
                   .run = [](Inputs t) { return probability_loss(t[0], t[1], 1e-4); },
                   .reference =
                       [](Inputs t) {
                         const double p = std::max(t[0].at({0, 2}), 1e-4);
                         return Tensor::full({}, -(std::log(p) + std::log(t[0].at({1, 1}))) / 2, DType::f64);
                       }});
}

}  // namespace

void add_score_cases(std::vector<OpCase>& cases, CaseSize size) {
  if (size == CaseSize::large) return;
  const Layout same{{3, 1, 4}, {3, 1, 4}};
  add_bilinear(cases, same, false);
  add_bilinear(cases, same, true);
  add_transformer_xl(cases, "Transformer-XL", same, 100);
  add_transformer_xl(cases, "Transformer-XL, earlier segments", {{2, 1, 3}, {5, 4, 3}}, 5);
  add_transformer_xl(cases, "Transformer-XL, clamped", {{2, 1, 3}, {5, 4, 3}}, 2);
  add_pointers(cases);
  add_copying(cases);
}

}  // namespace heed::testing

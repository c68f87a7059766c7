// heed lab attention: the variants of attention side by side, on one made-up sentence.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "heed/attention/registry.h"
#include "heed/base/random.h"
#include "verbs.h"

namespace heed::cli {
namespace {

constexpr std::int64_t kTokens = 8, kHeads = 2, kWidth = 4, kQuery = 4;  // the query that is shown

Tensor made_up(const char* name) {
  Tensor x = Tensor::empty({kTokens, kHeads, kWidth});
  for (std::int64_t i = 0; i < x.count(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(normal(1, stream_id(name), static_cast<std::uint64_t>(i)));
  }
  return x;
}

int attention() {
  const AttentionInput plain{
      .q = made_up("q"), .k = made_up("k"), .v = made_up("v"), .queries = {kTokens}, .keys = {kTokens}};
  fmt::print(
      "Weights in % that token {} of {} gives to each token, in the last head of each variant; . is not seen.\n\n",
      kQuery, kTokens - 1);
  std::string columns;
  for (std::int64_t j = 0; j < kTokens; ++j) columns += fmt::format("{:>3}", j);
  fmt::print("{:<18}{}  {:<49} {}\n", "variant", columns, "formula", "heed/attention/");
  for (const AttentionVariant& variant : attention_variants()) {
    const Tensor weights = attention_rows(variant.example(plain), 0, kHeads - 1, kQuery, kQuery + 1);
    std::string row;
    for (std::int64_t j = 0; j < kTokens; ++j) {
      const double weight = weights.at({0, j});
      row += weight == 0 ? "  ." : fmt::format("{:>3}", std::lround(100 * weight));
    }
    fmt::print("{:<18}{}  {:<49} {}\n", variant.name, row, variant.formula, variant.where);
  }
  fmt::print(
      "\nMasks (1 = attend) say which keys are seen, scores and positions how much; all combine. More is in\n"
      "docs/attention.md.\n");
  return 0;
}

}  // namespace

void add_lab_attention(CLI::App& lab, int& result) {
  lab.add_subcommand("attention", "show the variants of attention side by side (at once)")->callback([&result] {
    result = attention();
  });
}

}  // namespace heed::cli

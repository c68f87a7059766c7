// A case of HuggingFace's generate(), as {"input_ids", "params", "sequences", "sequences_scores"}.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/json.h"
#include "heed/generate/generate.h"

namespace heed::test {

using Ids = std::vector<TokenId>;

inline std::vector<Ids> rows_of(const Json& ids) {
  if (!ids.empty() && ids[0].is_number()) return {ids.get<Ids>()};
  return ids.get<std::vector<Ids>>();
}

// Without what attention_mask hides: HuggingFace pads prompts on the left, and what encoders read on the right.
inline std::vector<Ids> prompts_of(const Json& example) {
  std::vector<Ids> prompts = rows_of(example.at("input_ids"));
  if (!example.contains("attention_mask")) return prompts;
  const std::vector<Ids> masks = rows_of(example.at("attention_mask"));
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Ids seen;
    for (std::size_t t = 0; t < prompts[i].size(); ++t) {
      if (masks[i][t] != 0) seen.push_back(prompts[i][t]);
    }
    prompts[i] = std::move(seen);
  }
  return prompts;
}

// What a model is asked for a case: to go on with its ids, or to read them and begin with the decoder's first token.
inline std::vector<GenerateRequest> requests_of(const Model& model, const Json& example, const Json& settings) {
  const GenerateOptions options = read_generation_config(settings, "params");
  std::vector<GenerateRequest> requests;
  for (Ids& ids : prompts_of(example)) {
    if (model.backbone()->reads()) {
      requests.push_back({.prompt = {decoder_start(settings, "params")}, .options = options, .source = std::move(ids)});
    } else {
      requests.push_back({.prompt = std::move(ids), .options = options});
    }
  }
  return requests;
}

// To the id, and to the score.
inline void expect_case(const Model& model, const Json& example, Json settings) {
  settings.update(example.at("params"));
  const std::vector<Ids> expected = rows_of(example.at("sequences"));
  const auto prompt_length = model.backbone()->reads() ? 1 : rows_of(example.at("input_ids"))[0].size();
  const std::vector<GenerateResult> results = generate(model, requests_of(model, example, settings));
  std::size_t row = 0;
  for (const GenerateResult& result : results) {
    for (const Generation& generation : result.generations) {
      ASSERT_LT(row, expected.size());
      const Ids ours = generation.ids();
      ASSERT_LE(prompt_length + ours.size(), expected[row].size()) << example.dump();
      const Ids theirs(expected[row].begin() + static_cast<std::ptrdiff_t>(prompt_length),
                       expected[row].begin() + static_cast<std::ptrdiff_t>(prompt_length + ours.size()));
      EXPECT_EQ(ours, theirs) << "row " << row << " of " << example.dump();
      if (example.contains("sequences_scores")) {
        const auto theirs_score = example.at("sequences_scores")[row].get<double>();
        EXPECT_NEAR(generation.score, theirs_score, 2e-5 * std::max(1.0, std::abs(theirs_score)))
            << example.at("params").dump();
      }
      // What follows is padding.
      const bool ended = generation.reason == FinishReason::stop;
      EXPECT_TRUE(ended || prompt_length + ours.size() == expected[row].size());
      ++row;
    }
  }
  EXPECT_EQ(row, expected.size());
}

}  // namespace heed::test

// How much each token and word did for a score: integrated gradients (Sundararajan, Taly and Yan 2017) and occlusion.
#pragma once

#include <string>
#include <vector>

#include "heed/explain/scores.h"
#include "heed/explain/words.h"

namespace heed {

struct IntegratedGradientsOptions {
  std::size_t steps = 64;           // points on the path
  std::size_t token_budget = 2048;  // of the points that are computed together
};

// a_t = (x_t - b_t) . mean over alpha in (0, 1) of d score / d x_t at b + alpha (x - b), with alpha at the middles of
// `steps` equal parts. x are the word vectors of the text. b has the vector of the padding token in the place of every
// word, or zeros where the tokenizer has no such token; special tokens stay, so that the score between b and x
// changes by the words alone. Padding is what models are trained to see as no text.
struct Attribution {
  std::vector<double> tokens{};  // one per token, special ones 0
  double score = 0, baseline_score = 0;
  std::size_t steps = 0;
  std::string baseline{};  // the token in the place of words; "" for zeros

  // What the sum of the tokens lacks to score - baseline_score: 0 for infinitely many steps (completeness).
  double gap() const;
};

Attribution integrated_gradients(const LoadedModel& model, const text::Encoding& encoding, const Score& score,
                                 const IntegratedGradientsOptions& options = {});

// score(text) - score(text without the token, or the word). Without is: the mask token in its place, or, for
// tokenizers that have none, taken out. Special tokens are 0.
struct Occlusion {
  std::vector<double> tokens{}, words{};
  std::string replacement{};  // the mask token; "" where tokens were taken out
};

Occlusion occlude(const LoadedModel& model, const ReadText& text, const Score& score);

}  // namespace heed

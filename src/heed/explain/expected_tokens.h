// What a language model expected at each place of a text, and what each of its layers would have said there: the logit
// lens (nostalgebraist 2020), which reads the hidden states of every layer with the end of the model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tasks/run_task.h"

namespace heed {

struct Guess {
  std::string text{};
  double probability = 0;
};

// One token of the text, and what the tokens before it made the model expect in its place.
struct ExpectedToken {
  std::size_t place = 0;              // in the text
  double probability = 0;             // of the token itself
  std::int64_t rank = 0;              // 0: it was the likeliest
  std::vector<Guess> alternatives{};  // the likeliest, in order
  // Per layer, what enters the first one before them all: its likeliest token, and its probability of the token itself.
  std::vector<Guess> layers{};
  std::vector<double> own{};
};

// Of the tokens from `first` on, which is at least 1: the first token of a text follows nothing. `output` is that of
// the encoding, with the hidden states of all layers.
std::vector<ExpectedToken> expected_tokens(const LoadedModel& model, const text::Encoding& encoding,
                                           const ModelOutput& output, std::size_t first, std::size_t alternatives);

}  // namespace heed

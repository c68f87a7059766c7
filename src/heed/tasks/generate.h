// Text generation: what a language model writes after a prompt.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tasks/loaded_model.h"

namespace heed {

struct WrittenToken {
  std::int32_t token = 0;
  std::string text{};
  double log_probability = 0;  // by the model itself
  std::vector<WrittenToken> alternatives{};
};

struct WrittenText {
  std::string text{};           // without the prompt
  std::string finish_reason{};  // stop, length, time, cancelled
  bool whole = true;            // false: it ended before it followed its constraint
  double score = 0;             // the sum of log-probabilities, or what beams are ranked by
  std::vector<WrittenToken> tokens{};
  std::vector<std::int32_t> prompt{};         // the ids that it follows
  std::vector<WrittenToken> prompt_scores{};  // of the prompt's tokens from the second on, if asked for
};

// What follows each prompt: num_return_sequences texts per prompt. `options` are the fields of docs/generation.md as a
// JSON object, over those of the model's generation_config.json. `on_text` is told the first text of each
// prompt as it comes.
std::vector<std::vector<WrittenText>> generate_texts(
    const LoadedModel& model, const std::vector<std::string>& prompts, std::string_view options = "{}",
    const std::function<void(std::size_t prompt, std::string_view text)>& on_text = {});

const Task& generate_task();

}  // namespace heed

// The tokenizer of a run: where it comes from, and what is saved of it.
#pragma once

#include "heed/text/special_tokens.h"
#include "heed/train/config.h"

namespace heed {

class TrainEvents;

struct LoadedTokenizer {
  text::Tokenizer tokenizer;
  std::optional<text::Tokenizer> target;  // of what the model writes, if that is another one
  Json tokenizer_config, special_tokens_map;
};
// That of config.tokenizer.from or model.from; or a new one, trained on the run's texts and kept in its folder.
LoadedTokenizer starting_tokenizer(const TrainConfig& config, TrainEvents& events);

// The folder of a tokenizer that is there already, which may have chat templates too.
std::filesystem::path tokenizer_folder(const TrainConfig& config);

// tokenizer.json, or the older files of models that translate, and the settings beside it, chat templates included, for
// a model with these limits.
void save_tokenizer(const text::Tokenizer& tokenizer, const TrainConfig& config, std::size_t max_tokens,
                    const std::filesystem::path& folder);

}  // namespace heed

// The folder that a run ends in: HuggingFace's layout, tokenizer included, so that every command of heed and
// HuggingFace itself load it. Models for embedding get sentence-transformers' files too.
#pragma once

#include <filesystem>

#include "heed/train/task.h"

namespace heed {

void write_model(EncoderModel& model, const TrainTask& task, const TrainConfig& config, const HeadPlan& plan,
                 const text::Tokenizer& tokenizer, std::size_t max_tokens, const std::filesystem::path& folder);

}  // namespace heed

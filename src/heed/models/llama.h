// What the families that follow LLaMA take from it.
#pragma once

#include <vector>

#include "heed/models/decoder.h"

namespace heed {

// The sizes that LLaMA and its relatives call by the same names: pre-norm, RMS norm, gated feed-forward without biases.
// `config` holds the defaults of the family.
void read_llama_fields(ConfigReader& reader, DecoderConfig& config);
// The names of their tensors: "model." is the prefix.
std::vector<PublishedName> llama_names(const DecoderConfig& config);

}  // namespace heed

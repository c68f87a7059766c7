// Which sequences run together: as many as a budget of tokens allows, those of like length side by side. Since no
// sequence sees its neighbours (law 1), the grouping is a matter of speed and memory only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/text_encoder.h"
#include "heed/text/encoding.h"

namespace heed {

// Indices into `lengths`, longest first. A sequence that is longer than the budget gets a batch of its own.
std::vector<std::vector<std::size_t>> plan_batches(std::span<const std::size_t> lengths, std::size_t token_budget);

// The ids of the chosen encodings end to end, and their token types if the model has any to tell apart.
EncoderInput pack_encodings(std::span<const text::Encoding> encodings, std::span<const std::size_t> chosen,
                            bool with_types);

}  // namespace heed

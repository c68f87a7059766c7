// What BART's config.json and tensors have in common with those of mBART, Marian, Pegasus, M2M-100 and Blenderbot
// Small.
#pragma once

#include "heed/models/seq2seq.h"

namespace heed {

// Sizes of a family's first model, which count where config.json does not say.
struct BartSizes {
  std::int64_t vocab_size = 50265, hidden_size = 1024, layers = 12, heads = 16, intermediate_size = 4096,
               max_tokens = 1024, padding_id = 1;
  const char* activation = "gelu";
};
// All fields but those of one family alone. Norms stand where the family says, before or after each part.
Seq2SeqConfig read_bart_fields(ConfigReader& reader, NormPlace norm_place, const BartSizes& sizes = {});

// The head that labels sequences by their last token.
void add_bart_classifier(ConfigReader& reader, ModelConfig& config);

// Names of what the halves are made of, but for tables of positions that files do not have.
std::vector<PublishedName> bart_names(bool with_positions = true);

}  // namespace heed

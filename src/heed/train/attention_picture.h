// What the heads of a model look at, summed up for a log: how sharply, and a picture of one sequence.
#pragma once

#include <span>
#include <vector>

#include "heed/io/png.h"
#include "heed/nn/attention_record.h"

namespace heed {

// Mean over all queries, in nats, of each head of a layer.
std::vector<double> mean_entropies(const LayerAttention& layer);

// A row of squares for each layer, a square for each head: queries downwards, keys to the right, the brighter the
// larger the weight. Of a query's weights those of its links are drawn. `tokens` is the length of the first sequence.
GreyImage attention_picture(std::span<const LayerAttention> layers, std::int64_t tokens);

}  // namespace heed

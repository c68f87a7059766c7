// What the heads of a model attended to in one text. It comes from the forward pass that makes predictions, by a
// probe; the predictions keep their bits.
#pragma once

#include <vector>

#include "heed/nn/attention_record.h"
#include "heed/tasks/run_task.h"

namespace heed {

struct TextAttention {
  std::vector<LayerAttention> layers{};  // in the order in which they attend
  std::int64_t memory = 0;               // keys before the text's, which the layers leave out (AttentionRecord)
  ModelOutput output{};                  // of the same pass

  std::int64_t layer_count() const { return std::ssize(layers); }
  std::int64_t heads() const { return layers.empty() ? 0 : layers.front().entropy.size(1); }
  std::int64_t tokens() const { return layers.empty() ? 0 : layers.front().entropy.size(0); }
  std::int64_t keys() const { return tokens() + memory; }
  // Mean over the tokens, in nats: 0 looks at one token, the logarithm of keys() at all alike.
  double mean_entropy(std::int64_t layer, std::int64_t head) const;
};

// `use` is called for each head with its whole matrix. The output has the hidden states of all layers if asked for.
TextAttention attention_of(const LoadedModel& model, const text::Encoding& encoding,
                           const AttentionRecord::UseWeights& use = {}, bool with_states = false);

// Attention roll-out (Abnar and Zuidema 2020): what reaches a token through all layers if every layer passes on half
// by its residual and half by the mean of its heads. R = (A_L + I)/2 ... (A_1 + I)/2. Fed with matrices layer by layer.
class AttentionRollout {
 public:
  AttentionRollout(std::int64_t tokens, std::int64_t heads);
  void add(const Tensor& weights);
  // Row `token` of R; sums to 1, less what came out of a memory.
  std::vector<double> row(std::int64_t token) const;

 private:
  std::int64_t heads_, added_ = 0;
  Tensor layer_;  // sum of the heads so far
  Tensor reached_;
};

}  // namespace heed

// What the heads of a model attended to in one text. It comes from the forward pass that makes predictions, by a
// probe; the predictions keep their bits.
#pragma once

#include <functional>
#include <vector>

#include "heed/tasks/text_model.h"

namespace heed {

// Layers are counted in the order in which they attend. N tokens, H heads.
struct TextAttention {
  std::vector<Tensor> entropy{}, maximum{};  // one a layer, [N, H]; entropy in nats
  std::vector<Tensor> link_keys{};           // one a layer, i64 [N, H, links]: the tokens most attended to, -1: none
  std::vector<Tensor> link_weights{};        // one a layer, [N, H, links], descending
  EncoderOutput output{};                    // of the same pass

  std::int64_t layers() const { return static_cast<std::int64_t>(entropy.size()); }
  std::int64_t heads() const { return entropy.empty() ? 0 : entropy.front().size(1); }
  std::int64_t tokens() const { return entropy.empty() ? 0 : entropy.front().size(0); }
  // Mean over the tokens, in nats: 0 looks at one token, ln N at all alike.
  double mean_entropy(std::int64_t layer, std::int64_t head) const;
};

// Called for each head with its whole matrix [N, N]: row i is where token i looks. The tensor is the callee's to keep
// or to drop; one is alive at a time if it is dropped.
using UseWeights = std::function<void(std::int64_t layer, std::int64_t head, const Tensor& weights)>;

TextAttention attention_of(const TextModel& model, const text::Encoding& encoding, const UseWeights& use = {});

// Attention roll-out (Abnar and Zuidema 2020): what reaches a token through all layers if every layer passes on half
// by its residual and half by the mean of its heads. R = (A_L + I)/2 ... (A_1 + I)/2. Fed with matrices layer by layer.
class AttentionRollout {
 public:
  AttentionRollout(std::int64_t tokens, std::int64_t heads);
  void add(const Tensor& weights);
  // Row `token` of R; sums to 1.
  std::vector<double> row(std::int64_t token) const;

 private:
  std::int64_t heads_, added_ = 0;
  Tensor layer_;  // sum of the heads so far
  Tensor reached_;
};

}  // namespace heed

// Attention that points: the weights themselves are the answer (Vinyals et al. 2015, https://arxiv.org/abs/1506.03134),
// or are mixed with a vocabulary's distribution to copy words of the source (See et al. 2017,
// https://arxiv.org/abs/1704.04368).
//
// L is the number of keys of the longest sequence. Rows are as long as that; what a query may not see, or its sequence
// does not have, has score -inf and weight 0.
#pragma once

#include "heed/attention/attend.h"
#include "heed/ops/loss.h"

namespace heed {

// The scores of attend() before the softmax, all of them: [Nq, H, L]. input.v is not needed. softmax() of it are the
// pointer's weights, log_softmax() its log-probabilities; a row that sees no key gives zeros there.
Tensor attention_scores(const AttentionInput& input);

// Cross-entropy of the pointer against targets [Nq]: positions of keys in their sequence. One head. Queries that see no
// key do not count; a target that its query may not see is an error.
Tensor pointer_loss(const AttentionInput& input, const Tensor& targets, const CrossEntropyOptions& options = {});

// Where the words of the source stand in the vocabulary.
struct CopySource {
  Tensor ids{};       // i64 [Nk]
  Offsets queries{};  // whose rows the weights have
  Offsets keys{};
};
// p[i, w] = gate_i vocabulary[i, w] + (1 - gate_i) sum_{j: ids_j = w} weights[i, j]
//   vocabulary [Nq, V] and weights [Nq, L] are probabilities, gate [Nq]. Returns [Nq, size], size >= V: words of the
//   source outside the vocabulary have ids from V on.
Tensor copy_mixture(const Tensor& vocabulary, const Tensor& gate, const Tensor& weights, const CopySource& source,
                    std::int64_t size);

// Mean of -log max(p[i, targets_i], floor); the floor keeps loss and gradient finite.
Tensor probability_loss(const Tensor& probabilities, const Tensor& targets, double floor = 1e-12);

}  // namespace heed

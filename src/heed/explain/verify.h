// What another implementation computed for a text, tensor by tensor, beside what heed computes: a proof, or the place
// where the two part.
//
// The dump is a safetensors file. Metadata: "text", and "pair" for two texts. Tensors, all with or without a batch axis
// of size 1 in front: input_ids [T]; token_type_ids and attention_mask [T] if there were any (padding at the end is
// passed over); and at least one of
//   hidden_states.0 ... .L [T, C], attentions.0 ... .L-1 [H, T, T] (a model that remembers M tokens: [H, T, M + T]),
//   last_hidden_state [T, C], pooler_output [C], logits (of tokens [T, ...], of texts [labels]), start_logits and
//   end_logits [T]
// which are HuggingFace's names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/tasks/loaded_model.h"

namespace heed {

// One tensor of the dump. It passes if every |ours - theirs| <= tolerance * max(1, |theirs|).
struct TensorCheck {
  std::string name{};
  double largest = 0;   // |ours - theirs|; infinite where either is no number
  double relative = 0;  // that by the largest |theirs|
  double tolerance = 0;
  std::string where{};  // of the worst element: token 3 "dog", column 17
  bool passed = true;
};

struct Verification {
  std::vector<TensorCheck> checks{};  // in the order of computation

  // Null if all passed.
  const TensorCheck* first_difference() const;
};

// Without a tolerance: 1e-4 for tensors of the dump in F32 or F64, 1e-2 for F16, 8e-2 for BF16, whose rounding every
// layer passes on. Ids must be equal; the tensors after them are computed from the ids of the dump, so that a
// difference of the tokenizers does not hide one of the models. Throws bad_format for a dump that misses a part, has
// one that the model does not have, or one of another shape.
Verification verify(const LoadedModel& model, const SafetensorsFile& dump, std::optional<double> tolerance = {});

}  // namespace heed

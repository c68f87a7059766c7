// The number that is to be explained: one for each sequence of a batch, a function of what the model is given.
#pragma once

#include <functional>

#include "heed/tasks/embed_plan.h"
#include "heed/tasks/run_task.h"

namespace heed {

// [B] of a packed batch of B sequences, differentiable in input.vectors.
using Score = std::function<Tensor(const Inputs& input)>;

// The logit of one label of a classifier. The model must outlive it.
Score label_score(const LoadedModel& model, std::size_t label);
// The cosine between a text's vector and `vector` [C], which stays as it is. The model must outlive it.
Score cosine_score(const LoadedModel& model, const EmbedPlan& plan, const Tensor& vector);

// The same sequence several times over.
Inputs repeated_input(const LoadedModel& model, const text::Encoding& encoding, std::size_t copies);

}  // namespace heed

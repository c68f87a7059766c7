// How well a model does: the one way from data with right answers to metrics, for training and for `heed eval`.
#pragma once

#include "heed/tasks/dataset.h"

namespace heed {

// Sequences of a batch have at most this many tokens together. Metrics that compare the texts of a batch with each
// other (contrastive embeddings) depend on it, so it is the same everywhere.
inline constexpr std::int64_t kEvaluationTokens = 4096;
// What the random choices of a task are made for when it is scored.
inline constexpr std::int64_t kEvaluationEpoch = -1;

// One evaluation per task of the data, with "loss" among the metrics. models[i] has the head of task i; all share one
// backbone.
std::vector<Evaluation> evaluate(std::span<const Model* const> models, const TaskList& tasks, Dataset& data,
                                 std::uint64_t seed, const std::function<void(double)>& progress = {});

}  // namespace heed

// Numbers against numbers, and lists in order: correlation, ranking, perplexity.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed {

// Throw invalid_argument for lists of different lengths or fewer than two values; not a number if one list is constant.
double pearson(std::span<const double> x, std::span<const double> y);
double spearman(std::span<const double> x, std::span<const double> y);

// From 1 for the least; equal values share the mean of their ranks.
std::vector<double> average_ranks(std::span<const double> values);

// The gains (0: not relevant) in the order of falling scores; of equal scores the first given comes first.
std::vector<double> in_ranked_order(std::span<const double> scores, std::span<const double> gains);

// Of one query, from gains in ranked order. Means over queries are MAP, MRR and the mean NDCG.
double average_precision(std::span<const double> ranked);  // 0 if nothing is relevant
double reciprocal_rank(std::span<const double> ranked);    // 1 / the place of the first relevant; 0 if there is none
double ndcg(std::span<const double> ranked, std::size_t k = 0);  // at k places; 0: all. 0 if nothing is relevant

// exp(the mean of negative log-likelihoods).
double perplexity(double sum_of_losses, std::size_t count);

}  // namespace heed

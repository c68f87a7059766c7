#include "heed/metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "heed/base/error.h"

namespace heed {
namespace {

void check_pairs(std::span<const double> x, std::span<const double> y, std::size_t least) {
  HEED_CHECK(x.size() == y.size() && x.size() >= least, "[metrics] ", x.size(), " and ", y.size(),
             " values, expected equally many, at least ", least);
}

std::vector<std::size_t> order_of(std::span<const double> values, bool falling) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return falling ? values[a] > values[b] : values[a] < values[b]; });
  return order;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double discounted_gain(std::span<const double> ranked) {
  double sum = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) sum += ranked[i] / std::log2(static_cast<double>(i + 2));
  return sum;
}

}  // namespace

double pearson(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y, 2);
  const double mean_x = mean(x), mean_y = mean(y);
  double products = 0, squares_x = 0, squares_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    products += dx * dy;
    squares_x += dx * dx;
    squares_y += dy * dy;
  }
  if (squares_x == 0 || squares_y == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(products / std::sqrt(squares_x) / std::sqrt(squares_y), -1.0, 1.0);
}

std::vector<double> average_ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = order_of(values, false);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

double spearman(std::span<const double> x, std::span<const double> y) {
  check_pairs(x, y, 2);
  return pearson(average_ranks(x), average_ranks(y));
}

std::vector<double> in_ranked_order(std::span<const double> scores, std::span<const double> gains) {
  check_pairs(scores, gains, 0);
  std::vector<double> ranked;
  for (const std::size_t i : order_of(scores, true)) ranked.push_back(gains[i]);
  return ranked;
}

double average_precision(std::span<const double> ranked) {
  double relevant = 0, sum = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (ranked[i] <= 0) continue;
    ++relevant;
    sum += relevant / static_cast<double>(i + 1);
  }
  return relevant == 0 ? 0 : sum / relevant;
}

double reciprocal_rank(std::span<const double> ranked) {
  const auto first = std::ranges::find_if(ranked, [](double gain) { return gain > 0; });
  return first == ranked.end() ? 0 : 1 / static_cast<double>(first - ranked.begin() + 1);
}

double ndcg(std::span<const double> ranked, std::size_t k) {
  if (k == 0 || k > ranked.size()) k = ranked.size();
  std::vector<double> ideal(ranked.begin(), ranked.end());
  std::ranges::sort(ideal, std::greater());
  const double best = discounted_gain(std::span(ideal).first(k));
  return best == 0 ? 0 : discounted_gain(ranked.first(k)) / best;
}

double perplexity(double sum_of_losses, std::size_t count) {
  HEED_CHECK(count > 0, "[perplexity] there are no tokens");
  return std::exp(sum_of_losses / static_cast<double>(count));
}

}  // namespace heed

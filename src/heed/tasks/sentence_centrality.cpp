#include "heed/tasks/sentence_centrality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/tasks/embed.h"

namespace heed {
namespace {

using Vectors = std::span<const std::vector<float>>;

constexpr std::size_t kMostTogether = 1000;
constexpr int kMostRounds = 200;
constexpr double kSettled = 1e-9;

// Where the walk goes from each sentence, row by row, each row summing up to 1 or, without links, to 0.
std::vector<float> links(Vectors vectors, double threshold) {
  const std::size_t n = vectors.size();
  std::vector<float> rows(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double likeness = dot(vectors[i], vectors[j]);
      if (likeness > threshold) rows[i * n + j] = rows[j * n + i] = static_cast<float>(likeness);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::span row(rows.data() + i * n, n);
    double sum = 0;
    for (const float link : row) sum += link;
    if (sum == 0) continue;
    for (float& link : row) link = static_cast<float>(link / sum);
  }
  return rows;
}

// One step along the links; what has none goes by the prior.
std::vector<double> step(std::span<const float> rows, std::span<const double> time, std::span<const double> prior,
                         double damping) {
  const std::size_t n = time.size();
  std::vector<double> next(n, 0);
  double walked = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) next[j] += time[i] * rows[i * n + j];
  }
  for (double& value : next) walked += value *= damping;
  for (std::size_t j = 0; j < n; ++j) next[j] += (1 - walked) * prior[j];
  return next;
}

// Of neighbouring sentences, the first of which is number `first` of the document.
void add_centrality(Vectors vectors, std::size_t first, const CentralityOptions& options, std::vector<double>& scores) {
  const std::size_t n = vectors.size();
  std::vector<double> prior(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += prior[i] = 1 + options.lead * std::exp(-static_cast<double>(first + i) / options.lead_reach);
  }
  for (double& value : prior) value /= sum;
  const std::vector<float> rows = links(vectors, options.threshold);
  std::vector<double> time = prior;
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<double> next = step(rows, time, prior, options.damping);
    double change = 0;
    for (std::size_t i = 0; i < n; ++i) change += std::abs(next[i] - time[i]);
    time = std::move(next);
    if (change < kSettled) break;
  }
  for (const double share : time) scores.push_back(share * static_cast<double>(n));
}

}  // namespace

std::vector<double> sentence_centrality(Vectors vectors, const CentralityOptions& options) {
  std::vector<double> scores;
  scores.reserve(vectors.size());
  // Windows of equal size, so that the last one has neighbours too.
  const std::size_t windows = (vectors.size() + kMostTogether - 1) / kMostTogether;
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t begin = vectors.size() * i / windows, end = vectors.size() * (i + 1) / windows;
    add_centrality(vectors.subspan(begin, end - begin), begin, options, scores);
  }
  return scores;
}

std::vector<std::size_t> choose_sentences(Vectors vectors, std::span<const double> scores, std::size_t count,
                                          const CentralityOptions& options) {
  const std::size_t n = scores.size();
  const double greatest = n == 0 ? 1 : std::ranges::max(scores);
  std::vector<double> likeness(n, 0);  // to the chosen one that is most alike
  std::vector<bool> is_chosen(n, false);
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(count, n)) {
    std::size_t best = n;
    double best_worth = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const double worth = (1 - options.redundancy) * scores[i] / greatest - options.redundancy * likeness[i];
      if (!is_chosen[i] && worth > best_worth) best = i, best_worth = worth;
    }
    is_chosen[best] = true;
    chosen.push_back(best);
    for (std::size_t i = 0; i < n; ++i) likeness[i] = std::max(likeness[i], dot(vectors[best], vectors[i]));
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace heed

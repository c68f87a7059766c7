// How long one call takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace heed::bench {

template <class Run>
double seconds_of(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Median of one call, after a warm-up, over the calls that fit in about 0.15 s (at least 3, if that takes no more than
// 2 s).
template <class Run>
double median_seconds(const Run& run) {
  run();
  std::vector<double> times;
  for (double total = 0; total < 0.15 || (times.size() < 3 && total < 2); total += times.back()) {
    times.push_back(seconds_of(run));
  }
  return median(std::move(times));
}

}  // namespace heed::bench

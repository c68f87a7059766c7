// Which samples train together, and in which order: a pure function of lengths, rules, seed and epoch, so that a
// resumed run needs the number of its batch and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed {

struct BatchRules {
  std::int64_t tokens = 2048;  // most of a batch; a longer sample gets one of its own
  std::int64_t sequences = 0;  // most samples of a batch; 0: no limit
  bool shuffle = true;         // else the order of the data
  bool by_length = true;       // neighbours of similar length, within chunks of many batches
};

class BatchPlan {
 public:
  BatchPlan(std::span<const std::uint32_t> lengths, const BatchRules& rules, std::uint64_t seed, std::int64_t epoch);

  std::int64_t batches() const { return static_cast<std::int64_t>(ranges_.size()); }
  // The numbers of the samples of batch i.
  std::span<const std::uint32_t> batch(std::int64_t i) const;

 private:
  struct Range {
    std::size_t begin, end;
  };
  std::vector<std::uint32_t> order_;
  std::vector<Range> ranges_;
};

}  // namespace heed

// Rows of data.train that are held out for evaluation, where there is no data.dev. Which they are is a function of the
// seed and of what a model reads of a row: rows that read alike are never on both sides, and a resumed run has the
// same.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/row.h"

namespace heed {

inline constexpr std::size_t kMostDevRows = 2000, kLeastDevRows = 10;

class DevSplit {
 public:
  explicit DevSplit(std::uint64_t seed) : seed_(seed) {}

  // Each row of the data once; then the share that is wanted, up to kMostDevRows. Fewer than kLeastDevRows tell
  // nothing: then there are none.
  void add(const Row& row) { hashes_.push_back(hash(row)); }
  void divide(double share);

  std::size_t rows() const { return rows_; }  // held out
  bool holds_out(const Row& row) const { return rows_ > 0 && hash(row) < border_; }

 private:
  std::uint64_t hash(const Row& row) const;

  std::uint64_t seed_, border_ = 0;
  std::vector<std::uint64_t> hashes_;
  std::size_t rows_ = 0;
};

}  // namespace heed

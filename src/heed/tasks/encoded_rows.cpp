#include "heed/tasks/encoded_rows.h"

namespace heed {

std::size_t EncodedRow::bytes() const {
  constexpr std::size_t kToken = 2 * sizeof(text::Span) + 4 * sizeof(std::int32_t) + 2;
  constexpr std::size_t kLists = 8 * 16;  // what the allocator adds
  std::size_t sum = 0;
  for (const Row& row : rows) sum += sizeof(Row) + row.text.size() + row.messages.size();
  for (const auto& sequences : samples) {
    for (const text::Encoding& each : sequences) sum += sizeof(text::Encoding) + kLists + each.size() * kToken;
  }
  return sum;
}

std::shared_ptr<const EncodedRow> EncodedRows::find(std::uint32_t row) {
  const auto found = places_.find(row);
  if (found == places_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, found->second);
  return found->second->encoded;
}

void EncodedRows::keep(std::uint32_t row, std::shared_ptr<const EncodedRow> encoded) {
  bytes_ += encoded->bytes();
  latest_.push_front({row, std::move(encoded)});
  places_[row] = latest_.begin();
  while (bytes_ > most_bytes_ && latest_.size() > 1) {
    bytes_ -= latest_.back().encoded->bytes();
    places_.erase(latest_.back().row);
    latest_.pop_back();
  }
}

void EncodedRows::clear() {
  latest_.clear();
  places_.clear();
  bytes_ = 0;
}

}  // namespace heed

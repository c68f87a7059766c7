#include "heed/train/dev_split.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "heed/base/random.h"

namespace heed {

void DevSplit::divide(double share) {
  const auto all = static_cast<double>(hashes_.size());
  const auto wanted = std::min(static_cast<std::size_t>(std::llround(share * all)), kMostDevRows);
  if (wanted >= kLeastDevRows && wanted < hashes_.size()) {
    const auto place = hashes_.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::ranges::nth_element(hashes_, place);
    border_ = *place;
    rows_ =
        static_cast<std::size_t>(std::ranges::count_if(hashes_, [&](std::uint64_t each) { return each < border_; }));
    if (rows_ < kLeastDevRows) rows_ = 0;  // most rows read alike
  }
  hashes_ = {};
}

std::uint64_t DevSplit::hash(const Row& row) const {
  std::uint64_t hash = stream_id("dev split", seed_, std::string_view(row.text));
  if (row.pair) hash = stream_id(hash, std::string_view(*row.pair));
  for (const std::string& word : row.words) hash = stream_id(hash, std::string_view(word));
  if (!row.messages.empty()) hash = stream_id(hash, std::string_view(row.messages));
  for (const auto* list : {&row.texts, &row.items}) {
    for (const std::string& each : *list) hash = stream_id(hash, std::string_view(each));
  }
  for (const double number : row.numbers) hash = stream_id(hash, std::bit_cast<std::uint64_t>(number));
  for (const auto& file : row.files) hash = stream_id(hash, std::string_view(file.native()));
  return hash;
}

}  // namespace heed

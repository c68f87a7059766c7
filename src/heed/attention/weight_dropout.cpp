#include "heed/attention/weight_dropout.h"

#include <algorithm>

#include "heed/base/random.h"
#include "heed/kernels/dropout.h"

namespace heed {

template <class T>
void DropoutFactors<T>::fill(const kernels::ScoreTile<T>& tile) const {
  constexpr std::int64_t kBlock = 64;  // keys that share a stream
  const std::int64_t end = tile.key_begin + tile.keys;
  T factors[kBlock];
  for (std::int64_t r = 0; r < tile.queries; ++r) {
    const std::int64_t position = layout_.position(tile.sequence, tile.query_begin + r);
    for (std::int64_t block = tile.key_begin / kBlock * kBlock; block < end; block += kBlock) {
      const std::int64_t first = std::max(block, tile.key_begin), last = std::min(block + kBlock, end);
      const std::uint64_t stream = stream_id(dropout_.key.stream, tile.sequence, tile.head, position, block);
      std::fill(factors, factors + kBlock, T{1});
      kernels::dropout<T>(factors, factors, last - block, dropout_.probability, {dropout_.key.seed, stream});
      std::copy(factors + (first - block), factors + (last - block),
                tile.scores + (r * tile.ld + first - tile.key_begin));
    }
  }
}

template class DropoutFactors<float>;
template class DropoutFactors<double>;

}  // namespace heed

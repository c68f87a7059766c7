#include "heed/ops/checks.h"

namespace heed {

void check_ids(const char* op, const Tensor& ids, std::int64_t limit) {
  check_defined(op, ids);
  visit_index(op, ids.dtype(), [&](auto zero) {
    using Index = decltype(zero);
    const Tensor flat = ids.detached_contiguous();
    const Index* id = flat.data<Index>();
    for (std::int64_t i = 0; i < flat.count(); ++i) {
      HEED_CHECK(id[i] >= 0 && id[i] < limit, "[", op, "] id ", id[i], " at position ", i, " of ids ", ids.shape(),
                 " is outside 0..", limit - 1);
    }
  });
}

}  // namespace heed

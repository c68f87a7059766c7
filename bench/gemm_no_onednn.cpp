#include "bench/gemm_run.h"

namespace heed::bench {

std::unique_ptr<GemmRun> prepare_onednn(const GemmCase&) {
  return nullptr;
}

}  // namespace heed::bench

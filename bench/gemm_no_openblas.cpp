#include "bench/gemm_run.h"

namespace heed::bench {

std::unique_ptr<GemmRun> prepare_openblas(const GemmCase&) {
  return nullptr;
}

}  // namespace heed::bench

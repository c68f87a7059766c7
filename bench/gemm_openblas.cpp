#include <cblas.h>

#include "bench/gemm_run.h"

namespace heed::bench {
namespace {

class OpenBlasRun : public GemmRun {
 public:
  using GemmRun::GemmRun;
  void run() override {
    const auto M = static_cast<blasint>(case_.M), N = static_cast<blasint>(case_.N), K = static_cast<blasint>(case_.K);
    openblas_set_num_threads(case_.threads);
    cblas_sgemm(CblasRowMajor, case_.transposed_a() ? CblasTrans : CblasNoTrans,
                case_.transposed_b() ? CblasTrans : CblasNoTrans, M, N, K, 1.0f, data_.a.data(),
                case_.transposed_a() ? M : K, data_.b.data(), case_.transposed_b() ? K : N, 0.0f, data_.c.data(), N);
  }
};

}  // namespace

std::unique_ptr<GemmRun> prepare_openblas(const GemmCase& gemm) {
  return std::make_unique<OpenBlasRun>(gemm);
}

}  // namespace heed::bench

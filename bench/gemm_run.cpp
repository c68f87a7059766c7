#include "bench/gemm_run.h"

#include <algorithm>
#include <random>

#include "bench/timing.h"
#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/gemm.h"

namespace heed::bench {
namespace {

// The weight is packed once, as a linear layer does at load time. In TN both operands change with every product, so
// packing is part of it.
class HeedRun : public GemmRun {
 public:
  explicit HeedRun(const GemmCase& gemm) : GemmRun(gemm) {
    if (gemm.transposed_a()) return;
    weight_ = kernels::PackedMatrix<float>::pack(data_.b.data(), gemm.K, gemm.N, gemm.transposed_b() ? gemm.K : gemm.N,
                                                 gemm.transposed_b());
  }
  void run() override {
    const ThreadLimit limit(case_.threads);
    if (case_.transposed_a()) {
      kernels::gemm(case_.M, case_.N, case_.K, data_.a.data(), case_.M, true, data_.b.data(), case_.N, false,
                    data_.c.data(), case_.N);
    } else {
      kernels::gemm(case_.M, data_.a.data(), case_.K, false, weight_, data_.c.data(), case_.N);
    }
  }

 private:
  kernels::PackedMatrix<float> weight_;
};

}  // namespace

GemmData::GemmData(const GemmCase& gemm)
    : a(static_cast<std::size_t>(gemm.M * gemm.K)),
      b(static_cast<std::size_t>(gemm.K * gemm.N)),
      c(static_cast<std::size_t>(gemm.M * gemm.N)) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& x : a) x = uniform(generator);
  for (float& x : b) x = uniform(generator);
}

const std::vector<GemmCase>& gemm_shapes() {
  static const std::vector<GemmCase> shapes = {{128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {1024, 768, 768},
                                               {16, 768, 768},  {1, 768, 768},    {128, 384, 1536}, {32, 312, 312}};
  return shapes;
}

std::vector<std::string> gemm_libraries() {
  const GemmCase smallest{1, 1, 1};
  std::vector<std::string> libraries = {"heed"};
  if (prepare_openblas(smallest)) libraries.emplace_back("openblas");
  if (prepare_onednn(smallest)) libraries.emplace_back("onednn");
  return libraries;
}

std::unique_ptr<GemmRun> prepare_gemm(const std::string& library, const GemmCase& gemm) {
  HEED_CHECK(gemm.layout == "NN" || gemm.layout == "NT" || gemm.layout == "TN", "[gemm bench] layout is \"",
             gemm.layout, "\", expected NN, NT or TN");
  HEED_CHECK(gemm.M > 0 && gemm.N > 0 && gemm.K > 0 && gemm.threads > 0,
             "[gemm bench] M, N, K and threads must be positive, found ", gemm.M, " ", gemm.N, " ", gemm.K, " ",
             gemm.threads);
  std::unique_ptr<GemmRun> run;
  if (library == "heed") run = std::make_unique<HeedRun>(gemm);
  if (library == "openblas") run = prepare_openblas(gemm);
  if (library == "onednn") run = prepare_onednn(gemm);
  HEED_CHECK_AS(not_found, run, "[gemm bench] no library \"", library, "\"");
  return run;
}

double median_seconds(GemmRun& gemm) {
  const auto once = [&] { return seconds_of([&] { gemm.run(); }); };
  once();
  const double warm = std::min(once(), once());
  const auto count = static_cast<std::size_t>(std::clamp(0.01 / std::max(warm, 1e-7), 5.0, 20000.0));
  std::vector<double> times(count);
  for (double& t : times) t = once();
  return median(std::move(times));
}

}  // namespace heed::bench

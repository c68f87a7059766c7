// One matrix product, by heed or by a peer library, prepared so that run() does nothing but the product.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heed::bench {

// NN: A M x K, B K x N. NT: B is N x K (a linear layer). TN: A is K x M (the gradient of a weight).
struct GemmCase {
  std::int64_t M = 0, N = 0, K = 0;
  std::string layout = "NN";
  int threads = 1;

  bool transposed_a() const { return layout == "TN"; }
  bool transposed_b() const { return layout == "NT"; }
  double flops() const { return 2.0 * static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K); }
};

struct GemmData {
  explicit GemmData(const GemmCase& gemm);  // random a and b
  std::vector<float> a, b, c;
};

class GemmRun {
 public:
  explicit GemmRun(const GemmCase& gemm) : case_(gemm), data_(gemm) {}
  virtual ~GemmRun() = default;
  virtual void run() = 0;

 protected:
  GemmCase case_;
  GemmData data_;
};

// The shapes of BERT, MiniLM and TinyBERT layers.
const std::vector<GemmCase>& gemm_shapes();

// "heed" and the peers that are compiled in.
std::vector<std::string> gemm_libraries();
// Throws heed::Error for an unknown layout or size, or a library that is not compiled in.
std::unique_ptr<GemmRun> prepare_gemm(const std::string& library, const GemmCase& gemm);

// Median seconds of one call, after a warm-up, over as many calls as fit in about 10 ms (at least 5): short, so that a
// race can alternate faster than the machine changes its mood.
double median_seconds(GemmRun& gemm);

// Null when the library is not compiled in.
std::unique_ptr<GemmRun> prepare_openblas(const GemmCase& gemm);
std::unique_ptr<GemmRun> prepare_onednn(const GemmCase& gemm);

}  // namespace heed::bench

// oneDNN at its best: dnnl_sgemm, and matmul and inner product whose weights are reordered into the layout that the
// primitive prefers, outside the timing; whichever is fastest for the shape runs. (In TN, B is no weight but changes
// with every product, so there the matmul takes it as it is.)
#include <omp.h>

#include <array>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "bench/gemm_run.h"

namespace heed::bench {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;
using Tag = memory::format_tag;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

class SgemmRun : public GemmRun {
 public:
  using GemmRun::GemmRun;
  void run() override {
    omp_set_num_threads(case_.threads);
    dnnl_sgemm(case_.transposed_a() ? 'T' : 'N', case_.transposed_b() ? 'T' : 'N', case_.M, case_.N, case_.K, 1.0f,
               data_.a.data(), case_.transposed_a() ? case_.M : case_.K, data_.b.data(),
               case_.transposed_b() ? case_.K : case_.N, 0.0f, data_.c.data(), case_.N);
  }
};

class PrimitiveRun : public GemmRun {
 public:
  using GemmRun::GemmRun;
  void run() override {
    omp_set_num_threads(case_.threads);
    primitive_.execute(stream_, arguments_);
  }

 protected:
  // `plain` describes data_.b; `wanted` is what the primitive asked for.
  memory reordered_weights(const memory::desc& plain, const memory::desc& wanted) {
    memory given(plain, engine(), data_.b.data());
    if (plain == wanted) return given;
    memory packed(wanted, engine());
    dnnl::reorder(given, packed).execute(stream_, given, packed);
    stream_.wait();
    return packed;
  }
  void set(dnnl::primitive primitive, const memory::desc& a, const memory& weights, const memory::desc& c) {
    primitive_ = std::move(primitive);
    arguments_ = {{DNNL_ARG_SRC, memory(a, engine(), data_.a.data())},
                  {DNNL_ARG_WEIGHTS, weights},
                  {DNNL_ARG_DST, memory(c, engine(), data_.c.data())}};
  }

  dnnl::stream stream_{engine()};
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
};

class MatmulRun : public PrimitiveRun {
 public:
  explicit MatmulRun(const GemmCase& gemm) : PrimitiveRun(gemm) {
    omp_set_num_threads(gemm.threads);
    const memory::desc a({gemm.M, gemm.K}, kF32, gemm.transposed_a() ? Tag::ba : Tag::ab);
    const memory::desc b({gemm.K, gemm.N}, kF32, gemm.transposed_b() ? Tag::ba : Tag::ab);
    const memory::desc any({gemm.K, gemm.N}, kF32, Tag::any), c({gemm.M, gemm.N}, kF32, Tag::ab);
    const dnnl::matmul::primitive_desc chosen({a, gemm.transposed_a() ? b : any, c}, engine());
    set(dnnl::matmul(chosen), a, reordered_weights(b, chosen.weights_desc()), c);
  }
};

class InnerProductRun : public PrimitiveRun {
 public:
  explicit InnerProductRun(const GemmCase& gemm) : PrimitiveRun(gemm) {
    omp_set_num_threads(gemm.threads);
    const memory::desc a({gemm.M, gemm.K}, kF32, Tag::ab);
    const memory::desc b({gemm.N, gemm.K}, kF32, gemm.transposed_b() ? Tag::ab : Tag::ba);
    const memory::desc any({gemm.N, gemm.K}, kF32, Tag::any), c({gemm.M, gemm.N}, kF32, Tag::ab);
    const dnnl::inner_product_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference, a, any, c}, engine());
    set(dnnl::inner_product_forward(chosen), a, reordered_weights(b, chosen.weights_desc()), c);
  }
};

}  // namespace

std::unique_ptr<GemmRun> prepare_onednn(const GemmCase& gemm) {
  std::vector<std::unique_ptr<GemmRun>> ways;
  ways.push_back(std::make_unique<SgemmRun>(gemm));
  ways.push_back(std::make_unique<MatmulRun>(gemm));
  if (!gemm.transposed_a()) ways.push_back(std::make_unique<InnerProductRun>(gemm));
  // Several rounds: a disturbance must not choose the slower way.
  std::size_t best = 0;
  double least = 1e30;
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const double seconds = median_seconds(*ways[i]);
      if (seconds < least) least = seconds, best = i;
    }
  }
  return std::move(ways[best]);
}

}  // namespace heed::bench

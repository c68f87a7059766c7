// A two-layer network learns exclusive-or: tensors, a module, gradients, an optimizer.
#include <heed/base/error.h>
#include <heed/nn/layers.h>
#include <heed/ops/loss.h>
#include <heed/tensor/autograd.h>
#include <heed/train/optimizer.h>

#include <cstdio>

class Network : public heed::Module {
 public:
  heed::Tensor forward(const heed::Tensor& x) const { return out_.forward(in_.forward(x, heed::Activation::tanh)); }
  void visit(heed::Visitor& visitor) const override {  // names its parameters; saving, freezing, counting follow
    visitor.child("in", in_);
    visitor.child("out", out_);
  }

 private:
  heed::Linear in_{2, 8}, out_{8, 1};
};

int main() try {
  const auto x = heed::Tensor::from<float>({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
  const auto target = heed::Tensor::from<float>({0, 1, 1, 0}, {4, 1});
  Network network;
  heed::initialize(network, /*seed=*/1);
  auto optimizer = heed::make_adam({{heed::parameters(network)}});
  for (int step = 0; step < 500; ++step) {
    heed::backward(heed::binary_cross_entropy(network.forward(x), target));
    optimizer->step(0.05);
    optimizer->clear_gradients();
  }
  heed::NoGrad no_grad;
  const auto logits = network.forward(x);
  for (int row = 0; row < 4; ++row) {
    std::printf("%g xor %g = %d\n", x.at({row, 0}), x.at({row, 1}), logits.at({row, 0}) > 0);
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

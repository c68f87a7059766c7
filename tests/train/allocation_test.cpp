// A steady training loop asks the system for no memory: neither the pool nor operator new, which this file counts for
// the whole test program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/nn/feed_forward.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "heed/train/optimizer.h"

namespace {
std::atomic<std::uint64_t> new_calls{0};
}

void* operator new(std::size_t size) {
  ++new_calls;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++new_calls;
  return std::malloc(size);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace heed {
namespace {

class Mlp : public Module {
 public:
  Tensor forward(const Tensor& x, const Context& context) const {
    const Tensor hidden = dropout_.forward(norm_.forward(first_.forward(x, Activation::gelu)), context);
    return last_.forward(feed_forward_.forward(hidden, Context(), hidden));
  }
  void visit(Visitor& visitor) const override {
    visitor.child("first", first_);
    visitor.child("norm", norm_);
    visitor.child("feed_forward", feed_forward_);
    visitor.child("last", last_);
  }

 private:
  Linear first_{32, 64};
  Norm norm_{64};
  FeedForward feed_forward_{64, {.intermediate_size = 128}};
  Dropout dropout_{0.1};
  Linear last_{64, 10};
};

TEST(SteadyLoop, MakesNoSystemAllocation) {
  for (int threads : {1, 2}) {
    ThreadLimit limit(threads);
    Mlp model;
    initialize(model, 1);
    const std::vector<Tensor> trained = parameters(model);
    auto optimizer = make_adam({{trained, 0.01}});
    const Tensor x = Tensor::full({48, 32}, 0.5);
    const Tensor targets = Tensor::from(std::vector<std::int64_t>(48, 3), {48});
    std::uint64_t step = 0;
    auto train_step = [&] {
      const Tensor loss = cross_entropy(model.forward(x, Context::training(1, step++)), targets);
      backward(loss);
      clip_gradient_norm(trained, 1.0);
      optimizer->step(1e-3);
      optimizer->clear_gradients();
    };
    // What 20 steps ask for: blocks of the pool, calls of operator new.
    auto asked_for = [&] {
      const std::uint64_t pool_before = pool_stats().system_allocations, new_before = new_calls;
      for (int i = 0; i < 20; ++i) train_step();
      return std::pair(pool_stats().system_allocations - pool_before, new_calls - new_before);
    };
    asked_for();  // warm-up
    // How many threads hold scratch memory at the same moment is a matter of timing: the pool may still grow once or
    // twice, until every thread has had its own. One thread has no such excuse.
    auto asked = asked_for();
    for (int more = 0; threads > 1 && more < 10 && asked.first > 0; ++more) asked = asked_for();
    const std::uint64_t in_use_before = pool_stats().in_use_bytes;
    train_step();
    EXPECT_EQ(pool_stats().in_use_bytes, in_use_before);
    EXPECT_EQ(asked.first, 0u) << threads << " threads";
    EXPECT_EQ(asked.second, 0u) << threads << " threads";
  }
}

}  // namespace
}  // namespace heed

#include "heed/tensor/autograd.h"

#include <algorithm>
#include <atomic>

#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"

namespace heed {
namespace {

thread_local bool recording = true;
std::atomic<std::uint64_t> next_sequence{0};

// a + b of equal shapes, into a's bytes when nobody else holds them.
Tensor accumulated(Tensor a, const Tensor& b) {
  const bool own = a.storage().use_count() == 1 && a.is_contiguous();
  Tensor sum = own ? a : Tensor::empty(a.shape(), a.dtype());
  visit_float("backward", a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor left = a.detached_contiguous(), right = b.detached_contiguous();
    kernels::binary<T>(kernels::Binary::add, left.data<T>(), right.data<T>(), sum.mutable_data<T>(), a.count());
  });
  return sum;
}

}  // namespace

Autograd::~Autograd() {
  if (!creator) return;
  thread_local PoolVector<std::shared_ptr<Node>>* condemned = nullptr;
  if (condemned) {  // a destructor further up the stack is at it
    condemned->push_back(std::move(creator));
    return;
  }
  PoolVector<std::shared_ptr<Node>> list;
  condemned = &list;
  list.push_back(std::move(creator));
  while (!list.empty()) {
    std::shared_ptr<Node> node = std::move(list.back());
    list.pop_back();
  }
  condemned = nullptr;
}

bool grad_enabled() {
  return recording;
}

GradMode::GradMode(bool enabled) : previous_(recording) {
  recording = enabled;
}

GradMode::~GradMode() {
  recording = previous_;
}

Node::Node(const char* op_name, PoolVector<std::shared_ptr<Autograd>> input_states)
    : op(op_name), sequence(next_sequence.fetch_add(1, std::memory_order_relaxed)), inputs(std::move(input_states)) {}

void Node::release() {
  released = true;
  release_rule();
  inputs.clear();
  output = Tensor();
}

const Tensor& Backward::output() const {
  HEED_CHECK_AS(internal, node_.output.defined(), "[", node_.op, "] its gradient rule needs Keep::output");
  return node_.output;
}

bool Backward::wants(std::size_t i) const {
  return node_.inputs[i] != nullptr;
}

void Backward::give(std::size_t i, Tensor gradient) {
  Autograd* state = node_.inputs[i].get();
  if (!state) return;
  HEED_CHECK_AS(internal, gradient.shape() == state->shape && gradient.dtype() == state->dtype, "[", node_.op,
                "] gradient ", i, " is ", gradient.dtype(), gradient.shape(), ", its input ", state->dtype,
                state->shape);
  if (!state->grad.defined()) {
    state->grad = std::move(gradient);
  } else {
    state->grad = accumulated(std::move(state->grad), gradient);
  }
}

bool records(std::span<const Tensor> inputs) {
  return recording && std::ranges::any_of(inputs, [](const Tensor& input) { return input.requires_grad(); });
}

PoolVector<std::shared_ptr<Autograd>> detail::gradient_inputs(std::span<const Tensor> inputs) {
  PoolVector<std::shared_ptr<Autograd>> states;
  states.reserve(inputs.size());
  for (const Tensor& input : inputs) states.push_back(input.autograd());
  return states;
}

void detail::attach(Tensor& output, std::shared_ptr<Node> node, Keep keep) {
  if (keep == Keep::output) node->output = output.detach();
  auto state = std::allocate_shared<Autograd>(PoolAllocator<Autograd>());
  state->shape = output.shape();
  state->dtype = output.dtype();
  state->creator = std::move(node);
  output.set_autograd(std::move(state));
}

void backward(const Tensor& root, const Tensor& grad) {
  HEED_CHECK(root.defined() && root.requires_grad(), "[backward] the tensor does not depend on any that requires grad");
  HEED_CHECK(grad.defined() || root.count() == 1, "[backward] shape ", root.shape(),
             " is not one element: pass the gradient to start from");
  HEED_CHECK(!grad.defined() || (grad.shape() == root.shape() && grad.dtype() == root.dtype()), "[backward] gradient ",
             grad.dtype(), grad.shape(), " does not match the tensor ", root.dtype(), root.shape());
  NoGrad no_grad;
  const Tensor start = grad.defined() ? grad.detach() : Tensor::full(root.shape(), 1.0, root.dtype());
  Autograd& root_state = *root.autograd();
  root_state.grad = root_state.grad.defined() ? accumulated(root_state.grad, start) : start;

  // Tensors whose rule is still to run, the one recorded last on top: all users of a tensor come before its own rule.
  auto recorded_before = [](const std::shared_ptr<Autograd>& a, const std::shared_ptr<Autograd>& b) {
    return a->creator->sequence < b->creator->sequence;
  };
  PoolVector<std::shared_ptr<Autograd>> pending;
  if (root_state.creator) pending.push_back(root.autograd());
  while (!pending.empty()) {
    std::ranges::pop_heap(pending, recorded_before);
    const std::shared_ptr<Autograd> state = std::move(pending.back());
    pending.pop_back();
    state->pending = false;
    Node& node = *state->creator;
    HEED_CHECK(!node.released, "[backward] the graph of \"", node.op, "\" was freed by an earlier backward()");

    for (const auto& input : node.inputs) {
      if (input && input->creator && !input->pending) {
        input->pending = true;
        pending.push_back(input);
        std::ranges::push_heap(pending, recorded_before);
      }
    }
    // A rule may have given no gradient to this tensor (a result that does not depend on it): nothing to send on.
    if (state->grad.defined()) {
      Backward step(node, std::exchange(state->grad, Tensor()).detached_contiguous());
      node.run(step);
    }
    node.release();
  }
}

Tensor checkpoint(const std::function<Tensor(std::span<const Tensor>)>& block, std::vector<Tensor> inputs) {
  if (!grad_enabled()) return block(inputs);
  Tensor output;
  {
    NoGrad no_grad;
    output = block(inputs).detach();
  }
  auto rule = [block, inputs](Backward& outer) {
    std::vector<Tensor> again;
    for (const Tensor& input : inputs) again.push_back(input.detach().set_requires_grad(input.requires_grad()));
    Tensor result;
    {
      GradMode record_again(true);
      result = block(again);
    }
    if (!result.requires_grad()) return;
    backward(result, outer.grad());
    for (std::size_t i = 0; i < again.size(); ++i) {
      if (outer.wants(i) && again[i].grad().defined()) outer.give(i, again[i].grad());
    }
  };
  // Recorded even if no input requires a gradient: parameters that the block uses may.
  detail::attach(output,
                 std::allocate_shared<detail::RuleNode<decltype(rule)>>(
                     PoolAllocator<detail::RuleNode<decltype(rule)>>(), "checkpoint", detail::gradient_inputs(inputs),
                     std::move(rule)),
                 Keep::nothing);
  return output;
}

}  // namespace heed

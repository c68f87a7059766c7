// The tape: which operation made a tensor, and how to send its gradient back.
//
// Eager: an op computes its output, then calls record() with its inputs and a gradient rule. Nothing is recorded under
// NoGrad or when no input requires a gradient. backward() runs the rules in reverse order of recording, frees each one
// (and all it kept) as soon as it ran, and leaves the sums in the grad() of the leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/memory.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Node;

// The gradient side of one tensor; shared by all handles on that tensor.
struct Autograd {
  Autograd() = default;
  ~Autograd();  // takes a long chain of operations apart without recursion
  Autograd(const Autograd&) = delete;
  Autograd& operator=(const Autograd&) = delete;

  Shape shape;
  DType dtype = DType::f32;
  Tensor grad;                    // a leaf's sum; of an inner tensor only while backward() is at work
  std::shared_ptr<Node> creator;  // null for a leaf
  bool pending = false;           // backward() has it on its list
};

// What a gradient rule sees.
class Backward {
 public:
  Backward(Node& node, Tensor grad) : node_(node), grad_(std::move(grad)) {}
  // d loss / d output: contiguous, of the output's shape.
  const Tensor& grad() const { return grad_; }
  // The output's values; only if the op recorded with Keep::output.
  const Tensor& output() const;
  // Whether input i (in the order given to record) requires a gradient.
  bool wants(std::size_t i) const;
  // Adds `gradient`, of input i's shape, to it; ignored where not wanted.
  void give(std::size_t i, Tensor gradient);

 private:
  Node& node_;
  Tensor grad_;
};

class Node {
 public:
  Node(const char* op, PoolVector<std::shared_ptr<Autograd>> inputs);
  virtual ~Node() = default;
  virtual void run(Backward& backward) = 0;
  virtual void release_rule() = 0;
  // Drops everything the node kept; it cannot run again.
  void release();

  const char* op;
  std::uint64_t sequence;                        // order of recording
  PoolVector<std::shared_ptr<Autograd>> inputs;  // null where no gradient is wanted
  Tensor output;                                 // without history, if kept
  bool released = false;
};

enum class Keep { nothing, output };

// Whether ops record now on this thread.
bool grad_enabled();

// While it lives, ops on this thread record nothing (or, with `true`, record again inside such a scope).
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

namespace detail {

template <class Rule>
class RuleNode final : public Node {
 public:
  RuleNode(const char* op_name, PoolVector<std::shared_ptr<Autograd>> input_states, Rule rule)
      : Node(op_name, std::move(input_states)), rule_(std::move(rule)) {}
  void run(Backward& backward) override { (*rule_)(backward); }
  void release_rule() override { rule_.reset(); }

 private:
  std::optional<Rule> rule_;
};

PoolVector<std::shared_ptr<Autograd>> gradient_inputs(std::span<const Tensor> inputs);
void attach(Tensor& output, std::shared_ptr<Node> node, Keep keep);

}  // namespace detail

// Whether an op over these inputs is to be recorded: ops that save extra values for their rule ask first.
bool records(std::span<const Tensor> inputs);
inline bool records(std::initializer_list<Tensor> inputs) {
  return records(std::span(inputs.begin(), inputs.size()));
}

// Makes `output` (fresh from the op, without history) the result of `op` on `inputs`. rule(Backward&) is called at most
// once; what it captures lives until then.
template <class Rule>
Tensor record(const char* op, Tensor output, std::span<const Tensor> inputs, Rule rule, Keep keep = Keep::nothing) {
  if (!records(inputs)) return output;
  detail::attach(output,
                 std::allocate_shared<detail::RuleNode<Rule>>(PoolAllocator<detail::RuleNode<Rule>>(), op,
                                                              detail::gradient_inputs(inputs), std::move(rule)),
                 keep);
  return output;
}
template <class Rule>
Tensor record(const char* op, Tensor output, std::initializer_list<Tensor> inputs, Rule rule,
              Keep keep = Keep::nothing) {
  return record(op, std::move(output), std::span(inputs.begin(), inputs.size()), std::move(rule), keep);
}

// Sends gradients from `root` to all leaves it depends on. `grad` is d loss / d root; without it root must have one
// element, and 1 is taken. A graph can be walked once: its memory is freed on the way.
void backward(const Tensor& root, const Tensor& grad = Tensor());

// Gradient checkpointing: block(inputs) without keeping what its ops would keep; backward() computes the block again.
// The block must be a pure function of its inputs and of parameters; random numbers are counter-based, so dropout
// inside repeats itself.
Tensor checkpoint(const std::function<Tensor(std::span<const Tensor>)>& block, std::vector<Tensor> inputs);

}  // namespace heed

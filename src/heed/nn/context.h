// What goes down the call chain of a forward pass: training or not, the step for dropout, who is watching, and
// whether to stop.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/base/random.h"
#include "heed/base/stop.h"
#include "heed/nn/tap.h"
#include "heed/ops/dropout.h"

namespace heed {

class Context {
 public:
  Context() = default;
  static Context training(std::uint64_t seed, std::uint64_t step) {
    Context context;
    context.training_ = true;
    context.seed_ = seed;
    context.step_ = step;
    return context;
  }
  static Context watched_by(Probe& probe) {
    Context context;
    context.probe_ = &probe;
    return context;
  }

  // The same, with blocks computed again on the way back instead of kept (tensor/autograd.h, checkpoint).
  Context recomputing(bool wanted = true) const {
    Context context = *this;
    context.recompute_ = wanted;
    return context;
  }

  // The same, for a pass that ends with a cancelled error when the token says so; by default the thread's (StopScope).
  Context stopping(const StopToken& stop) const {
    Context context = *this;
    context.stop_ = stop;
    return context;
  }
  void check_stop(const char* where) const { stop_.check(where); }

  bool is_training() const { return training_; }
  bool recomputes() const { return recompute_; }
  bool is_watched() const { return probe_ != nullptr; }

  // The context of a part of the model: separates the random numbers of its dropout from those of others.
  Context child(std::string_view name) const {
    Context part = *this;
    part.place_ = stream_id(place_, name);
    return part;
  }
  Context child(std::string_view name, std::uint64_t index) const {
    Context part = child(name);
    part.place_ = stream_id(part.place_, index);
    return part;
  }
  // The same, for taps of this layer, or of this part of the model.
  Context at_layer(std::int64_t layer) const {
    Context context = *this;
    context.layer_ = layer;
    return context;
  }
  Context in(Tap::Part part) const {
    Context context = *this;
    context.part_ = part;
    return context;
  }

  void tap(Tap::Kind kind, const Tensor& value) const {
    if (probe_) probe_->on_tensor({.kind = kind, .part = part_, .layer = layer_}, value);
  }
  // One sequence's and head's weights, if the probe wants them: make() computes them.
  template <class Make>
  void tap_weights(std::int64_t sequence, std::int64_t head, const Make& make) const {
    const Tap tap{Tap::Kind::weights, part_, layer_, sequence, head};
    if (probe_ && probe_->wants(tap)) probe_->on_tensor(tap, make());
  }

  // Different at every step and place, the same when the step is repeated.
  DropoutKey dropout_key() const { return {seed_, stream_id(step_, place_)}; }

 private:
  bool training_ = false, recompute_ = false;
  std::uint64_t seed_ = 0, step_ = 0, place_ = 0;
  Probe* probe_ = nullptr;
  StopToken stop_ = StopScope::current();
  Tap::Part part_ = Tap::Part::encoder;
  std::int64_t layer_ = -1;
};

}  // namespace heed

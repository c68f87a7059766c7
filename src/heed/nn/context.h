// What goes down the call chain of a forward pass: training or not, the step for dropout, and who is watching.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/random.h"
#include "heed/ops/dropout.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Sees named intermediates of a forward pass (law 4). Costs nothing when absent.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void on_tensor(std::string_view name, const Tensor& value) = 0;
  // Asked before a tensor is computed that only a probe has a use for: whole matrices of attention weights.
  virtual bool wants(std::string_view) const { return false; }
};

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

  bool is_training() const { return training_; }
  bool is_watched() const { return probe_ != nullptr; }

  // The context of a part: its name extends the path, which names taps and separates the random numbers of dropout.
  Context child(std::string_view name) const {
    Context part = *this;
    part.place_ = stream_id(place_, name);
    if (probe_) (part.path_ += path_.empty() ? "" : ".") += name;
    return part;
  }
  Context child(std::string_view name, std::uint64_t index) const {
    Context part = child(name);
    part.place_ = stream_id(part.place_, index);
    if (probe_) (part.path_ += '.') += std::to_string(index);
    return part;
  }

  void tap(std::string_view name, const Tensor& value) const {
    if (probe_) probe_->on_tensor(full_name(name), value);
  }
  bool wants(std::string_view name) const { return probe_ && probe_->wants(full_name(name)); }

  // Different at every step and place, the same when the step is repeated.
  DropoutKey dropout_key() const { return {seed_, stream_id(step_, place_)}; }

 private:
  std::string full_name(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
  }

  bool training_ = false;
  std::uint64_t seed_ = 0, step_ = 0, place_ = 0;
  Probe* probe_ = nullptr;
  std::string path_;
};

}  // namespace heed

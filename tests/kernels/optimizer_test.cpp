#include "heed/kernels/optimizer.h"

#include <functional>

#include "kernels/testing.h"

namespace heed::kernels {
namespace {

using namespace testing;

// A parameter with room for all the state an optimiser may keep.
template <class T>
struct State {
  std::vector<T> p, a, b, c;
  explicit State(std::vector<T> start) : p(std::move(start)), a(p.size()), b(p.size()), c(p.size()) {}
  std::int64_t size() const { return static_cast<std::int64_t>(p.size()); }
};

template <class T>
using Update = std::function<void(State<T>&, const T* grad, std::int64_t step)>;

// The configurations of the golden run, and what PyTorch 1.13 (torch.optim, float64) has after its 1000 steps.
template <class T>
struct Case {
  const char* name;
  Update<T> update;
  std::vector<double> golden;
};

template <class T>
Update<T> sgd_case(double lr, double momentum, double dampening, double decay, bool nesterov) {
  return [=](State<T>& s, const T* g, std::int64_t step) {
    T* buffer = momentum == 0 ? nullptr : s.a.data();
    sgd<T>({lr, momentum, dampening, decay, nesterov, step}, g, s.p.data(), buffer, s.size());
  };
}
template <class T>
Update<T> adam_case(double lr, double beta1, double beta2, double eps, double decay, bool decoupled, bool amsgrad) {
  return [=](State<T>& s, const T* g, std::int64_t step) {
    T* largest = amsgrad ? s.c.data() : nullptr;
    adam<T>({lr, beta1, beta2, eps, decay, decoupled, amsgrad, step}, g, s.p.data(), s.a.data(), s.b.data(), largest,
            s.size());
  };
}
template <class T>
Update<T> adagrad_case(double lr, double lr_decay, double eps, double decay) {
  return [=](State<T>& s, const T* g, std::int64_t step) {
    adagrad<T>({lr, lr_decay, eps, decay, step}, g, s.p.data(), s.a.data(), s.size());
  };
}
template <class T>
Update<T> rmsprop_case(double lr, double alpha, double eps, double decay, double momentum, bool centered) {
  return [=](State<T>& s, const T* g, std::int64_t) {
    T* average = centered ? s.b.data() : nullptr;
    T* buffer = momentum > 0 ? s.c.data() : nullptr;
    rmsprop<T>({lr, alpha, eps, decay, momentum, centered}, g, s.p.data(), s.a.data(), average, buffer, s.size());
  };
}

template <class T>
std::vector<Case<T>> cases() {
  return {
      {"sgd",
       sgd_case<T>(0.05, 0, 0, 0, false),
       {0.056359535312135563, 0.059258370705241231, 0.0070635705534232941, -0.050401918184881399,
        -0.058469301771846026}},
      {"sgd momentum dampening decay",
       sgd_case<T>(0.05, 0.9, 0.1, 0.01, false),
       {-0.0093179218765921529, 0.14174297754605594, 0.16248603709409237, 0.033840183480572286, -0.12591817876298403}},
      {"sgd nesterov",
       sgd_case<T>(0.01, 0.9, 0, 0.01, true),
       {0.0099019688392755819, 0.039576648282158483, 0.03286427529799691, -0.0040624318067868032,
        -0.037251835275811065}},
      {"adam",
       adam_case<T>(0.01, 0.9, 0.999, 1e-8, 0.02, false, false),
       {-0.016349698349912949, 0.0037817242539662146, 0.01655925187129615, 0.021149402872969954, 0.020683618255623166}},
      {"adam amsgrad",
       adam_case<T>(0.01, 0.8, 0.99, 1e-6, 0, false, true),
       {-0.024821260411934713, 0.010209822444786467, 0.028790377020999784, 0.03397046869146203, 0.034758890351665961}},
      {"adamw",
       adam_case<T>(0.01, 0.9, 0.999, 1e-8, 0.1, true, false),
       {-0.010701078395369332, 0.0054870145693900682, 0.014202054554402939, 0.014285504410504144,
        0.010247706909786998}},
      {"adamw amsgrad",
       adam_case<T>(0.02, 0.9, 0.98, 1e-8, 0.1, true, true),
       {-0.0014049562441017681, 0.016845792061004887, 0.019558342286794032, 0.0043754949106676443,
        -0.014669645693442585}},
      {"adagrad",
       adagrad_case<T>(0.1, 0.01, 1e-10, 0.02),
       {-0.36337443723400359, -0.11215550597951898, 0.12793416290410203, 0.43485335923504487, 0.46930018169584031}},
      {"rmsprop",
       rmsprop_case<T>(0.01, 0.9, 1e-8, 0.02, 0, false),
       {0.010120723462919853, 0.027163401102614504, 0.011623416983906506, -0.0019748463782230212,
        0.002992360027298547}},
      {"rmsprop centered momentum",
       rmsprop_case<T>(0.005, 0.95, 1e-6, 0, 0.8, true),
       {0.010096249029494252, 0.046739628256188909, 0.039884603368598934, -0.0030403282637462836,
        -0.043371361185734494}},
  };
}

TEST(Optimizer, DoubleFollowsPyTorchForAThousandSteps) {
  for_each_target([&] {
    for (const auto& c : cases<double>()) {
      State<double> state({-0.4, -0.1, 0.2, 0.5, 0.8});
      for (std::int64_t step = 1; step <= 1000; ++step) {
        std::vector<double> grad;
        for (std::size_t i = 0; i < 5; ++i) {
          grad.push_back(0.5 * std::sin(0.37 * static_cast<double>(step) + static_cast<double>(i)) + 0.1 * state.p[i]);
        }
        c.update(state, grad.data(), step);
      }
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(state.p[i], c.golden[i], 1e-10) << c.name << " element " << i;
    }
  });
}

// Ten steps of n parameters, gradients from their start values.
template <class T>
std::vector<T> ten_steps(const Update<T>& update, const std::vector<T>& start) {
  State<T> state(start);
  for (std::int64_t step = 1; step <= 10; ++step) {
    std::vector<T> grad(start);
    for (T& g : grad) g = static_cast<T>(0.3) * g + static_cast<T>(0.01 * static_cast<double>(step));
    update(state, grad.data(), step);
  }
  return state.p;
}

TEST(Optimizer, FloatStaysCloseToDoubleAtAllSizes) {
  const auto singles = cases<float>();
  const auto doubles = cases<double>();
  for_each_target([&] {
    for (std::int64_t n : kSizes) {
      const auto start = random_values<float>(n, 1);
      for (std::size_t i = 0; i < singles.size(); ++i) {
        const auto got = ten_steps<float>(singles[i].update, start);
        const auto want = ten_steps<double>(doubles[i].update, {start.begin(), start.end()});
        EXPECT_TRUE(all_near(
            got, [&](std::int64_t k) { return want[static_cast<std::size_t>(k)]; }, 2e-5))
            << singles[i].name;
      }
    }
  });
}

TEST(Optimizer, SameBitsForAllThreadsAndPositions) {
  const auto start = random_values<float>(40001, 2);
  for_each_target([&] {
    for (const auto& c : cases<float>()) {
      expect_same_bits_for_all_thread_counts([&] { return ten_steps<float>(c.update, start); });
      expect_same_bits_at_all_positions([&](std::int64_t begin, std::int64_t n) {
        return ten_steps<float>(c.update, {start.begin() + begin, start.begin() + begin + n});
      });
    }
  });
}

}  // namespace
}  // namespace heed::kernels

// Bad input gives a heed::Error that names the op and both sides; never undefined behaviour, never an abort.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/gather.h"
#include "heed/ops/linear.h"
#include "heed/ops/loss.h"
#include "heed/ops/matmul.h"
#include "heed/ops/normalize.h"
#include "heed/ops/reduce.h"
#include "heed/ops/shape_ops.h"

namespace heed {
namespace {

struct BadCall {
  const char* name;
  std::function<void()> call;
  std::vector<const char*> message;  // parts that it must have
};

Tensor f(const Shape& shape) {
  return Tensor::zeros(shape);
}
Tensor d(const Shape& shape) {
  return Tensor::zeros(shape, DType::f64);
}
Tensor i(std::initializer_list<std::int64_t> values) {
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())});
}

std::vector<BadCall> bad_calls() {
  return {
      {"add shapes",
       [] {
         add(f({2, 3}), f({4, 3}));
       },
       {"[add]", "[2, 3]", "[4, 3]"}},
      {"add types", [] { add(f({2}), d({2})); }, {"[add]", "f32[2]", "f64[2]"}},
      {"add ids", [] { add(i({1}), i({2})); }, {"[add]", "i64"}},
      {"add undefined", [] { add(f({2}), Tensor()); }, {"[add]", "no value"}},
      {"multiply shapes", [] { multiply(f({2}), f({3})); }, {"[multiply]", "[2]", "[3]"}},
      {"divide types", [] { divide(f({2}), d({2})); }, {"[divide]", "f32", "f64"}},
      {"scale ids", [] { scale(i({1}), 2); }, {"[scale]", "i64"}},
      {"broadcast",
       [] {
         broadcast_to(f({2, 3}), {2, 4});
       },
       {"[2, 3]", "[2, 4]"}},
      {"matmul inner",
       [] {
         matmul(f({2, 3}), f({4, 5}));
       },
       {"[matmul]", "[2, 3]", "[4, 5]"}},
      {"matmul rank",
       [] {
         matmul(f({3}), f({3, 5}));
       },
       {"[matmul]", "[3]", "[3, 5]"}},
      {"matmul batch",
       [] {
         matmul(f({2, 3, 4}), f({3, 4, 5}));
       },
       {"[matmul]", "do not broadcast"}},
      {"matmul types",
       [] {
         matmul(f({2, 3}), d({3, 2}));
       },
       {"[matmul]", "f32", "f64"}},
      {"linear width",
       [] {
         linear(f({2, 3}), Weight(f({5, 4})));
       },
       {"[linear]", "[2, 3]", "[5, 4]"}},
      {"linear bias",
       [] {
         linear(f({2, 3}), Weight(f({5, 3})), f({4}));
       },
       {"[linear]", "bias [4]", "[5, 3]"}},
      {"linear residual",
       [] {
         linear(f({2, 3}), Weight(f({5, 3})), {}, Activation::none, f({2, 3}));
       },
       {"[linear]", "residual", "[2, 3]", "[2, 5]"}},
      {"linear types",
       [] {
         linear(f({2, 3}), Weight(d({5, 3})));
       },
       {"[linear]", "f32[2, 3]", "f64[5, 3]"}},
      {"weight of one axis", [] { Weight(f({5})); }, {"[Weight]", "[5]", "[out, in]"}},
      {"linear scalar",
       [] {
         linear(f({}), Weight(f({1, 1})));
       },
       {"[linear]"}},
      {"feed_forward inner",
       [] {
         feed_forward(f({2, 3}), Weight(f({7, 3})), f({7}), Activation::gelu, Weight(f({3, 6})), f({3}));
       },
       {"[feed_forward]", "[3, 6]"}},
      {"activate ids", [] { relu(i({1})); }, {"[activate]", "i64"}},
      {"softmax scalar", [] { softmax(f({})); }, {"[softmax]"}},
      {"layer_norm gamma",
       [] {
         layer_norm(f({2, 3}), f({4}), {}, 1e-5);
       },
       {"[layer_norm]", "[2, 3]", "[4]"}},
      {"layer_norm epsilon",
       [] {
         layer_norm(f({2, 3}), {}, {}, -1);
       },
       {"[layer_norm]", "-1"}},
      {"rms_norm types",
       [] {
         rms_norm(f({2, 3}), d({3}), 1e-5);
       },
       {"[rms_norm]", "f64"}},
      {"add_layer_norm shapes",
       [] {
         add_layer_norm(f({2, 3}), f({2, 4}), {}, {}, 1e-5);
       },
       {"[add_layer_norm]", "[2, 3]", "[2, 4]"}},
      {"embedding id",
       [] {
         take_rows(f({4, 2}), i({0, 4}));
       },
       {"[take_rows]", "id 4", "position 1", "0..3"}},
      {"embedding negative id",
       [] {
         take_rows(f({4, 2}), i({-1}));
       },
       {"[take_rows]", "id -1"}},
      {"embedding float ids",
       [] {
         take_rows(f({4, 2}), f({2}));
       },
       {"[take_rows]", "f32"}},
      {"scatter_rows shapes",
       [] {
         scatter_rows(f({3, 2}), i({0, 1}), 4);
       },
       {"[scatter_rows]", "[3, 2]", "[2]"}},
      {"scatter_rows size",
       [] {
         scatter_rows(f({1, 2}), i({0}), -4);
       },
       {"[scatter_rows]", "-4"}},
      {"one_hot id", [] { one_hot(i({3}), 3); }, {"[one_hot]", "id 3"}},
      {"reshape count",
       [] {
         reshape(f({2, 3}), {4});
       },
       {"[reshape]", "[2, 3]", "[4]"}},
      {"reshape two unknown",
       [] {
         reshape(f({2, 3}), {-1, -1});
       },
       {"[reshape]", "-1"}},
      {"reshape negative",
       [] {
         reshape(f({2, 3}), {-2, 3});
       },
       {"[reshape]", "-2"}},
      {"transpose axis",
       [] {
         transpose(f({2, 3}), 0, 2);
       },
       {"axis 2", "[2, 3]"}},
      {"slice range",
       [] {
         slice(f({2, 3}), 1, 2, 4);
       },
       {"[slice]", "2..4", "[2, 3]"}},
      {"split sizes",
       [] {
         split(f({2, 3}), 1, std::vector<std::int64_t>{1, 1});
       },
       {"[split]", "[2, 3]"}},
      {"concat shapes",
       [] {
         concat(std::vector<Tensor>{f({2, 3}), f({3, 3})}, 1);
       },
       {"[concat]", "[3, 3]", "[2, 3]"}},
      {"concat nothing", [] { concat({}, 0); }, {"[concat]"}},
      {"sum axis", [] { sum(f({2}), 1); }, {"axis 1", "[2]"}},
      {"mean of nothing", [] { mean(f({0})); }, {"[mean]", "[0]"}},
      {"pool rank", [] { pool(Packed(f({2}), {2}), PoolKind::mean); }, {"[pool]", "[2]"}},
      {"pool offsets",
       [] {
         Packed(f({3, 2}), {2});
       },
       {"[Packed]", "[3, 2]"}},
      {"dropout probability", [] { dropout(f({2}), 1.0, {}); }, {"[dropout]", "1"}},
      {"cross_entropy target",
       [] {
         cross_entropy(f({2, 3}), i({0, 3}));
       },
       {"[cross_entropy]", "target 3", "0..2"}},
      {"cross_entropy rows",
       [] {
         cross_entropy(f({2, 3}), i({0}));
       },
       {"[cross_entropy]", "[2, 3]", "[1]"}},
      {"cross_entropy weights",
       [] {
         cross_entropy(f({2, 3}), i({0, 1}), {.class_weights = f({2})});
       },
       {"[cross_entropy]", "[2]", "[2, 3]"}},
      {"cross_entropy smoothing",
       [] {
         cross_entropy(f({2, 3}), i({0, 1}), {.label_smoothing = 2});
       },
       {"smoothing 2"}},
      {"binary_cross_entropy", [] { binary_cross_entropy(f({2}), f({3})); }, {"[binary_cross_entropy]", "[2]", "[3]"}},
      {"mean_squared_error", [] { mean_squared_error(f({2}), d({2})); }, {"[mean_squared_error]", "f32", "f64"}},
  };
}

class BadInput : public ::testing::TestWithParam<BadCall> {};

TEST_P(BadInput, NamesOpAndBothSides) {
  try {
    GetParam().call();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    for (const char* part : GetParam().message) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

std::string call_name(const ::testing::TestParamInfo<BadCall>& call) {
  std::string name = call.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, BadInput, ::testing::ValuesIn(bad_calls()), call_name);

}  // namespace
}  // namespace heed

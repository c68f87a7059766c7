// The published ONNX operator tests: every *.safetensors file in the folder that HEED_ONNX_OPS names (else
// suites/onnx-ops of the shared data) is a test of its own, OnnxOps_<operator>.<file>. A file holds the metadata op,
// opset, attributes (JSON), node_inputs and node_outputs (JSON lists of names), and the tensors in.NAME and out.NAME.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "onnx/handlers.h"
#include "support/shared_data.h"

namespace heed::onnx {
namespace {

namespace fs = std::filesystem;

std::string metadata_of(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  HEED_CHECK_AS(bad_format, found != file.metadata().end(), file.path().string(), ": __metadata__ has no ", key);
  return found->second;
}

std::vector<std::string> names_of(const SafetensorsFile& file, const std::string& key) {
  const std::string where = file.path().string() + ": " + key;
  return json_as<std::vector<std::string>>(parse_json(metadata_of(file, key), where), key, where);
}

Node read_node(const SafetensorsFile& file) {
  Node node;
  node.name = file.path().string();
  node.op = metadata_of(file, "op");
  node.opset = std::stoll(metadata_of(file, "opset"));
  node.attributes = parse_json(metadata_of(file, "attributes"), node.name + ": attributes");
  node.outputs = names_of(file, "node_outputs");
  for (const std::string& name : names_of(file, "node_inputs")) {
    Tensor input = name.empty() ? Tensor() : file.tensor("in." + name);
    if (input.defined() && input.dtype() == DType::f16) input = input.detached_to(DType::f32);
    node.inputs.push_back(input);
  }
  return node;
}

// The published files store a scalar as one element.
bool same_shape(const Shape& actual, const Shape& expected) {
  return actual == expected || (actual.rank() == 0 && expected == Shape({1}));
}

void expect_output(const std::string& name, const Tensor& actual, const Tensor& expected) {
  ASSERT_TRUE(actual.defined()) << name;
  ASSERT_TRUE(same_shape(actual.shape(), expected.shape()))
      << name << " is " << actual.shape() << ", expected " << expected.shape();
  constexpr double kRelative = 1e-3;
  const double absolute = expected.dtype() == DType::f16 ? 1e-3 : 1e-6;
  const auto found = actual.detached_to(DType::f64).to_vector<double>(),
             wanted = expected.detached_to(DType::f64).to_vector<double>();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) || std::isinf(wanted[i])) {
      const bool same = std::isnan(wanted[i]) ? std::isnan(found[i]) : found[i] == wanted[i];
      ASSERT_TRUE(same) << name << " element " << i << " is " << found[i] << ", expected " << wanted[i];
    } else {
      ASSERT_NEAR(found[i], wanted[i], absolute + kRelative * std::abs(wanted[i])) << name << " element " << i;
    }
  }
}

class OnnxFile : public ::testing::Test {
 public:
  explicit OnnxFile(fs::path path) : path_(std::move(path)) {}

  void TestBody() override {
    const SafetensorsFile file(path_);
    const Node node = read_node(file);
    const auto handler = handlers().find(node.op);
    ASSERT_NE(handler, handlers().end()) << "no handler for " << node.op;
    const std::vector<Tensor> outputs = handler->second(node);
    ASSERT_TRUE(node.wants(0));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.wants(i)) continue;
      ASSERT_LT(i, outputs.size()) << "no output " << node.outputs[i];
      expect_output(node.outputs[i], outputs[i], file.tensor("out." + node.outputs[i]));
    }
  }

 private:
  fs::path path_;
};

// A test that says why files were not run.
class NotRun : public ::testing::Test {
 public:
  explicit NotRun(std::string reason) : reason_(std::move(reason)) {}
  void TestBody() override { GTEST_SKIP() << reason_; }

 private:
  std::string reason_;
};

template <class Make>
void add_test(const std::string& suite, const std::string& name, Make make) {
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [make]() -> ::testing::Test* { return make(); });
}

// A file that does not open is a test too, and fails there.
std::string op_of(const fs::path& path) {
  try {
    return metadata_of(SafetensorsFile(path), "op");
  } catch (const Error&) {
    return "Unreadable";
  }
}

// Test names take letters, digits and underscores.
std::string plain(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

bool register_tests() {
  const char* named = std::getenv("HEED_ONNX_OPS");
  const fs::path folder = named ? fs::path(named) : test::shared_data("suites/onnx-ops");
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.empty()) {
    const std::string reason = "no *.safetensors in " + folder.string();
    add_test("OnnxOps", "NoFiles", [reason] { return new NotRun(reason); });
  }
  for (const fs::path& path : files) {
    const std::string op = op_of(path);
    add_test("OnnxOps_" + plain(op), plain(path.stem().string()), [path] { return new OnnxFile(path); });
  }
  return true;
}

// gtest wants tests registered before main().
[[maybe_unused]] const bool kRegistered = register_tests();

}  // namespace
}  // namespace heed::onnx

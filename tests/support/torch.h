// PyTorch as the other opinion: a test puts its inputs into questions, a script answers them with PyTorch, and every
// answer is compared with what we found. Tests skip where there is no PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/tensor/tensor_map.h"
#include "support/python.h"
#include "support/temp_folder.h"

namespace heed::test {

inline constexpr const char* kNoTorch =
    "/usr/bin/python3 has no torch (Debian package python3-torch): nothing to compare with";

inline bool has_torch() {
  return has_python_modules("torch");
}

// What we found, and the same as a question to PyTorch, whose answer has the same names.
struct TorchComparison {
  std::string name;
  double tolerance;  // relative to max(1, |x|)
  TensorMap found;
  Json question;
};

inline std::vector<double> numbers(const Tensor& x) {
  return x.detached_to(DType::f64).to_vector<double>();
}

// {"shape": ..., "values": ...}; -inf becomes null, which JSON has.
inline Json tensor_question(const Tensor& x) {
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < x.rank(); ++axis) sizes.push_back(x.size(axis));
  return {{"shape", sizes}, {"values", numbers(x)}};
}

// The largest |found - answered| / max(1, |answered|); fails where it is above the tolerance.
inline double expect_agreement(const TorchComparison& comparison, const Json& answer) {
  EXPECT_EQ(answer.size(), comparison.found.size());
  double largest = 0;
  for (const auto& [name, tensor] : comparison.found) {
    const auto answered = json_required<std::vector<double>>(answer, name, "answers.json");
    const auto found = numbers(tensor);
    EXPECT_EQ(found.size(), answered.size()) << name;
    if (found.size() != answered.size()) continue;
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double difference = std::abs(found[i] - answered[i]) / std::max(1.0, std::abs(answered[i]));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
    EXPECT_LE(worst, comparison.tolerance) << name;
    largest = std::max(largest, worst);
  }
  return largest;
}

// `script` is a path below tests/, called with <questions.json> <answers.json>, lists of equal length.
inline void expect_torch_agrees(const std::string& script, const std::vector<TorchComparison>& comparisons) {
  Json questions = Json::array();
  for (const TorchComparison& comparison : comparisons) questions.push_back(comparison.question);
  const TempFolder folder;
  const auto asked = folder.write("questions.json", questions.dump()), answered = folder.path() / "answers.json";
  ASSERT_EQ(run_python(script + " " + asked.string() + " " + answered.string()), 0);
  std::stringstream text;
  text << std::ifstream(answered).rdbuf();
  const Json answers = parse_json(text.str(), "answers.json");
  ASSERT_EQ(answers.size(), comparisons.size());
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    SCOPED_TRACE(comparisons[i].name);
    ::testing::Test::RecordProperty("largest difference, " + comparisons[i].name,
                                    std::to_string(expect_agreement(comparisons[i], answers[i]) * 1e6) + "e-6");
  }
}

}  // namespace heed::test

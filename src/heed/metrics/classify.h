// How well labels of whole texts were found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/metrics/report.h"

namespace heed {

// Lists of equal length; invalid_argument otherwise.
using Labels = std::vector<std::string>;

ScoreReport classification_report(const Labels& expected, const Labels& found);
// Any number of labels per text.
ScoreReport classification_report(const std::vector<Labels>& expected, const std::vector<Labels>& found);

struct ConfusionMatrix {
  Labels labels;                                 // all that occur, sorted
  std::vector<std::vector<std::size_t>> counts;  // [expected][found]

  std::size_t total() const;
  double accuracy() const;
  // Matthews' coefficient for any number of classes; 0 where it divides by zero, as scikit-learn has it.
  double matthews() const;
  // A line for each label: the shares of what was found, in shades of blocks, and the most frequent mistake.
  std::string picture() const;
};

ConfusionMatrix confusion_matrix(const Labels& expected, const Labels& found);
// {"labels": [..], "counts": [[..]]}
Json to_json(const ConfusionMatrix& matrix);

}  // namespace heed

// Precision, recall and F1 by class and averaged, and the table in which scikit-learn and seqeval print them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

struct Scores {
  std::string name;
  double precision = 0, recall = 0, f1 = 0;
  std::size_t support = 0;  // how many were to be found
};

struct ScoreReport {
  std::vector<Scores> classes;   // by name
  std::vector<Scores> averages;  // micro, macro, weighted; for several labels per text also samples
  // Each text has one label and gets one: the micro averages are all the accuracy, and are printed as such.
  bool micro_is_accuracy = false;

  // "micro", "macro", "weighted" or "samples"; throws invalid_argument for an average that the report does not have.
  const Scores& average(std::string_view name) const;
  // The table, character by character as scikit-learn's classification_report(digits=...).
  std::string text(int digits = 2) const;
};

// {"classes": {name: {"precision", "recall", "f1", "support"}}, "averages": {"micro": ...}, "accuracy"}
Json to_json(const ScoreReport& report);

// How often a class was found rightly, was found, and was to be found.
struct HitCounts {
  std::size_t right = 0, found = 0, expected = 0;
};

// beta weighs recall against precision in F; infinity is recall alone. What divides by zero is 0, as with scikit-learn;
// the macro average of no class at all is not a number.
Scores scores_of(const std::string& name, const HitCounts& counts, double beta = 1);
ScoreReport score_report(const std::map<std::string, HitCounts>& counts, double beta = 1);

// The sum in the order of numpy's, so that averages agree with it to the last bit.
double pairwise_sum(std::span<const double> values);

}  // namespace heed

// What is in data files before a model learns from it: labels, lengths, malformed rows, duplicates, contradictions, and
// rows that one file shares with another. Takes one pass per file and keeps a hash of each row.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/data/readers.h"

namespace heed {

struct DataCheckOptions {
  std::function<std::size_t(const Row&)> length{};  // in tokens; default: words, by spaces, and numbers, files, items
  std::size_t max_length = 0;                       // longer rows are counted; 0: there is no limit
  bool learns_labels = true;                        // labels, where there are any, are what a model is to learn
  std::function<void(double)> progress{};           // told the share done, 0 to 1
};

// How many rows of a kind there are, and where the first few are.
struct Findings {
  std::size_t count = 0;
  std::vector<std::string> examples{};  // "file:12 is file:3"

  void add(std::string example);
};

struct FileCheck {
  std::string file;
  std::size_t rows = 0;
  BadRows bad_rows{};
  std::map<std::string, std::size_t> labels{};   // how often; of tagged sentences: by words
  std::map<std::size_t, std::size_t> lengths{};  // how many rows have a length
  std::size_t too_long = 0;
  Findings empty{};                       // rows with nothing to see
  Findings duplicates{};                  // rows that came before, apart from case and spaces
  Findings contradictions{};              // those of them that have other labels (or another score, or other answers)
  std::vector<std::string> new_labels{};  // that the first file does not have

  // The least length that `share` of the rows do not exceed; 0 without rows.
  std::size_t length_quantile(double share) const;
  double mean_length() const;
};

// Rows of a file that an earlier file has too.
struct SharedRows {
  std::string file, earlier;
  Findings rows{};
};

struct DataCheck {
  std::vector<FileCheck> files{};
  std::vector<SharedRows> shared{};  // pairs that share any

  bool one_label = false;  // the first file has labels, but all are the same: nothing can be learned

  bool clean() const;  // nothing malformed, empty, contradictory or shared, and not one_label
};

// Malformed rows are counted, however many. The first source should be the training data.
DataCheck check_data(const std::vector<DataSource>& sources, const DataCheckOptions& options = {});
Json to_json(const DataCheck& check);

}  // namespace heed

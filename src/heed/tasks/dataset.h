// The samples of a split. Rows stay in their files: one pass notes where each sample begins and how long it is, and a
// batch reads its rows again. Memory grows by some bytes per sample, whatever the size of the data; the tokens of texts
// in windows are kept within a bound (tasks/encoded_rows.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/readers.h"
#include "heed/tasks/encoded_rows.h"
#include "heed/tasks/task.h"

namespace heed {

// The tasks of a model's heads, main one first; they must outlive data sets.
using TaskList = std::vector<std::unique_ptr<TrainableRun>>;

class Dataset {
 public:
  // sources[file][head]: each file is opened once per head, with its columns.
  Dataset(const std::vector<std::vector<DataSource>>& sources, const TaskList& tasks, Purpose purpose);

  // From now on it has only the rows for which keep(row), asked of the main head's, is true.
  void keep_rows(std::function<bool(const Row&)> keep) { keep_ = std::move(keep); }
  // Calls use(rows) for each row, one Row per head, from the first to the last.
  void for_each_row(const std::function<void(const std::vector<Row>&)>& use);
  // Makes the list of samples; progress(share done). Must come before what follows.
  void index(const std::function<void(double)>& progress = {});

  std::size_t size() const { return lengths_.size(); }
  std::span<const std::uint32_t> lengths() const { return lengths_; }  // in tokens
  std::int64_t tokens() const;
  std::size_t rows() const { return rows_; }
  BadRows bad_rows() const;
  // Rows that gave no sample: nothing of them could be learned or scored.
  std::size_t empty_rows() const { return empty_rows_; }
  // Rows whose text was cut, and after how many tokens.
  std::size_t cut_rows() const { return cut_rows_; }
  std::size_t cut_after() const { return cut_after_; }
  // `seed` and `epoch` make the random choices of tasks that have any.
  Sample sample(std::size_t number, std::uint64_t seed, std::int64_t epoch);
  Batch batch(std::span<const std::uint32_t> numbers, std::uint64_t seed, std::int64_t epoch, const ModelInfo& model);

 private:
  struct Place {
    std::uint64_t position;
    std::uint32_t file, row, window;
  };
  // The row at the reader's place, as each head sees it; false at the end of the file.
  bool next_row(std::size_t file, std::vector<Row>& row);
  std::shared_ptr<const EncodedRow> encoded(const Place& place);

  const TaskList& tasks_;
  Purpose purpose_;
  std::vector<std::vector<std::unique_ptr<RowReader>>> readers_;  // [file][head]
  std::vector<std::uint32_t> lengths_;
  std::vector<Place> places_;
  std::size_t rows_ = 0, empty_rows_ = 0, cut_rows_ = 0, cut_after_ = 0;
  std::function<bool(const Row&)> keep_{};
  EncodedRows encoded_;
};

}  // namespace heed

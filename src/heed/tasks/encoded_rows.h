// Rows whose tokens are kept, those used last within a bound of memory: each window of a long text is a sample of its
// own, and to read and tokenize the text again for every one of them takes longer than to train on it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "heed/data/row.h"
#include "heed/text/encoding.h"

namespace heed {

struct EncodedRow {
  std::vector<Row> rows;  // one per head
  std::vector<std::vector<text::Encoding>> samples;

  std::size_t bytes() const;  // roughly
};

class EncodedRows {
 public:
  explicit EncodedRows(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  // Null if it is not kept (any more). `row` is its number.
  std::shared_ptr<const EncodedRow> find(std::uint32_t row);
  void keep(std::uint32_t row, std::shared_ptr<const EncodedRow> encoded);
  void clear();

 private:
  struct Kept {
    std::uint32_t row;
    std::shared_ptr<const EncodedRow> encoded;
  };

  std::size_t most_bytes_, bytes_ = 0;
  std::list<Kept> latest_;  // most recently used first
  std::unordered_map<std::uint32_t, std::list<Kept>::iterator> places_;
};

}  // namespace heed

// Encoding of many texts by one tokenizer, for races against HuggingFace's (tools/race_tokenizers.js).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::bench {

class TokenizeRun {
 public:
  // A tokenizer.json or model directory, and a file with one text per line.
  TokenizeRun(const std::filesystem::path& tokenizer, const std::filesystem::path& texts);

  struct Result {
    double seconds = 0;
    std::int64_t bytes = 0, tokens = 0;
  };
  // Encodes the texts [begin, end), 1000 per batch.
  Result run(std::int64_t begin, std::int64_t end, int threads) const;

  // Bytes of live memory that the tokenizer takes.
  std::int64_t tokenizer_bytes() const { return tokenizer_bytes_; }

 private:
  std::int64_t before_, tokenizer_bytes_;
  text::Tokenizer tokenizer_;
  std::string storage_;
  std::vector<text::EncodeInput> texts_;
};

}  // namespace heed::bench

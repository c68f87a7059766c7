// Training of sub-word models from word counts, by the rules of HuggingFace's trainers. The result is a function of the
// counts and options alone, whatever the number of threads. A thread that is to stop (StopScope) does so within a
// second.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/json.h"

namespace heed::text {

struct TrainOptions {
  std::int64_t vocab_size = 30000;                       // of the result, special tokens included
  std::int64_t min_frequency = 0;                        // of a merge (BPE, WordPiece) or a word (WordLevel)
  std::vector<std::string> special_tokens;               // they get the first ids, in this order
  std::optional<std::int64_t> limit_alphabet;            // keep only the most frequent characters; BPE and WordPiece
  std::string initial_alphabet;                          // characters to keep in any case; not WordLevel
  std::optional<std::string> continuing_subword_prefix;  // BPE none, WordPiece "##" when not set
  std::optional<std::string> end_of_word_suffix;         // BPE and WordPiece
  std::optional<std::string> unk_token;
  // Told now and then how much is done, from 0 to 1.
  std::function<void(double share)> progress;
};

// Each word once, sorted by its bytes, with how often it occurs.
using WordCounts = std::vector<std::pair<std::string, std::int64_t>>;

// The "model" object of a tokenizer.json. All throw invalid_argument for options that make no sense.
//
// The most frequent pair of neighbours becomes a token, again and again; of equal pairs that with the lowest ids.
Json train_bpe(const WordCounts& words, const TrainOptions& options);
// The tokens of BPE with a continuation prefix, without its merges.
Json train_word_piece(const WordCounts& words, const TrainOptions& options);
// The most frequent words; of equal ones the first in byte order.
Json train_word_level(const WordCounts& words, const TrainOptions& options);
// Repeated substrings as seeds, then EM and pruning of what costs least likelihood (Kudo 2018).
Json train_unigram(const WordCounts& words, const TrainOptions& options);

}  // namespace heed::text

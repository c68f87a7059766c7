// Tables of words and what they add, for verbs that explain.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/explain/words.h"

namespace heed::cli {

struct ShareColumn {
  std::string title;
  std::vector<double> values;  // one per word
};

// The words with the largest values of the first column, each column with bars: left of the middle is below 0.
void print_shares(std::string_view title, const std::vector<ShareColumn>& columns, std::span<const TextWord> words);

// The last part of a path that is not empty: a model's name for readers.
std::string folder_name(const std::string& path);

// That a model did not read all of it.
void note_cut(const std::string& which, const ReadText& text);

}  // namespace heed::cli

// ROUGE-N, ROUGE-L and ROUGE-Lsum (Lin 2004), equal to Google's rouge-score.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"

namespace heed {

struct RougeOptions {
  // rouge1 to rouge9: n-grams; rougeL: the longest common subsequence; rougeLsum: of sentences, which are lines.
  std::vector<std::string> types = {"rouge1", "rouge2", "rougeL", "rougeLsum"};
  bool use_stemmer = false;  // words of more than three letters are their stems
  // Chinese characters are words, one by one, beside those of Latin letters and digits. rouge-score has none of them.
  bool characters = false;
  Fields fields();
};

struct RougeScore {
  double precision = 0, recall = 0, fmeasure = 0;
};

class Rouge {
 public:
  // Throws invalid_argument for types that are none.
  explicit Rouge(RougeOptions options = {});

  const std::vector<std::string>& types() const { return options_.types; }
  // By type. Of several references, of which there is at least one, the one with the best F counts, for each type.
  std::vector<RougeScore> score(std::string_view prediction, std::span<const std::string_view> references) const;

 private:
  std::vector<RougeScore> score_pair(std::string_view prediction, std::string_view reference) const;

  RougeOptions options_;
};

// Runs of the letters a to z and digits, in small letters.
std::vector<std::string> rouge_words(std::string_view text, bool use_stemmer, bool characters = false);

// Which words of `reference` a longest common subsequence has; words are numbers.
std::vector<std::size_t> common_subsequence(std::span<const std::uint32_t> reference,
                                            std::span<const std::uint32_t> prediction);

// Mean of scores and where 95 % of the means of resampled texts are, as rouge-score's BootstrapAggregator has them
// after numpy.random.seed(seed): its mid is the median of those means.
struct RougeConfidence {
  RougeScore low{}, mid{}, high{};
};
// scores[text][type]; at least one text. One for each type.
std::vector<RougeConfidence> rouge_confidence(const std::vector<std::vector<RougeScore>>& scores, std::int64_t samples,
                                              std::uint32_t seed);

}  // namespace heed

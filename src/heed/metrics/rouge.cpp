#include "heed/metrics/rouge.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/porter_stemmer.h"
#include "heed/text/letter_case.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

using Words = std::vector<std::uint32_t>;

// "rouge2" is 2; 0 for those of subsequences. Throws invalid_argument for what is no type.
std::size_t order_of(const std::string& type) {
  if (type == "rougeL" || type == "rougeLsum") return 0;
  HEED_CHECK(type.size() == 6 && type.starts_with("rouge") && type[5] >= '1' && type[5] <= '9', "[rouge] the type \"",
             type, "\" is unknown, expected rouge1 to rouge9, rougeL or rougeLsum");
  return static_cast<std::size_t>(type[5] - '0');
}

RougeScore score_of(double hits, std::size_t found, std::size_t right) {
  const double precision = hits / static_cast<double>(std::max<std::size_t>(found, 1));
  const double recall = hits / static_cast<double>(std::max<std::size_t>(right, 1));
  const double sum = precision + recall;
  return {precision, recall, sum > 0 ? 2 * precision * recall / sum : 0};
}

std::size_t common_length(const Words& a, const Words& b) {
  std::vector<std::size_t> lengths(b.size() + 1);
  for (const std::uint32_t word : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = lengths[j + 1];
      lengths[j + 1] = word == b[j] ? diagonal + 1 : std::max(above, lengths[j]);
      diagonal = above;
    }
  }
  return lengths.back();
}

// Lines that are not empty.
std::vector<std::string_view> sentences_of(std::string_view text) {
  std::vector<std::string_view> sentences;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) sentences.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return sentences;
}

using Sentences = std::vector<Words>;

// Hits of all sentences of the reference: words of a common subsequence with any sentence of the prediction, each word
// at most as often as either text has it.
double summary_hits(const Sentences& reference, const Sentences& prediction) {
  std::map<std::uint32_t, std::size_t> left, left_in_reference;
  for (const Words& sentence : prediction) {
    for (const std::uint32_t word : sentence) ++left[word];
  }
  for (const Words& sentence : reference) {
    for (const std::uint32_t word : sentence) ++left_in_reference[word];
  }
  double hits = 0;
  for (const Words& sentence : reference) {
    std::vector<bool> common(sentence.size());
    for (const Words& other : prediction) {
      for (const std::size_t place : common_subsequence(sentence, other)) common[place] = true;
    }
    for (std::size_t i = 0; i < sentence.size(); ++i) {
      if (!common[i] || left[sentence[i]] == 0 || left_in_reference[sentence[i]] == 0) continue;
      --left[sentence[i]];
      --left_in_reference[sentence[i]];
      ++hits;
    }
  }
  return hits;
}

std::size_t total(const Sentences& sentences) {
  std::size_t words = 0;
  for (const Words& sentence : sentences) words += sentence.size();
  return words;
}

// Turns texts into numbers of words; the same word has the same number.
class Numbers {
 public:
  explicit Numbers(const RougeOptions& options) : options_(options) {}

  Words of(std::string_view text) {
    Words words;
    for (const std::string& word : rouge_words(text, options_.use_stemmer, options_.characters)) {
      words.push_back(numbers_.try_emplace(word, static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
    return words;
  }
  Sentences of_sentences(std::string_view text) {
    Sentences sentences;
    for (const std::string_view sentence : sentences_of(text)) sentences.push_back(of(sentence));
    return sentences;
  }

 private:
  const RougeOptions& options_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

RougeScore ngram_score(const Words& found, const Words& right, std::size_t order) {
  NgramTable table;
  std::vector<double> matches(order);
  add_matches(table, table.count(found, order), table.count(right, order), matches);
  return score_of(matches.back(), ngram_total(found.size(), order), ngram_total(right.size(), order));
}

}  // namespace

Fields RougeOptions::fields() {
  return {
      Field("types", types, "rouge1 to rouge9, rougeL, rougeLsum"),
      Field("use_stemmer", use_stemmer, "compare the stems of words, by Porter's algorithm"),
      Field("characters", characters, "Chinese characters are words"),
  };
}

Rouge::Rouge(RougeOptions options) : options_(std::move(options)) {
  HEED_CHECK(!options_.types.empty(), "[rouge] no type is given");
  for (const std::string& type : options_.types) order_of(type);
}

std::vector<RougeScore> Rouge::score(std::string_view prediction, std::span<const std::string_view> references) const {
  HEED_CHECK(!references.empty(), "[rouge] there is no reference");
  std::vector<RougeScore> best = score_pair(prediction, references[0]);
  for (const std::string_view reference : references.subspan(1)) {
    const std::vector<RougeScore> other = score_pair(prediction, reference);
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (other[i].fmeasure > best[i].fmeasure) best[i] = other[i];
    }
  }
  return best;
}

std::vector<RougeScore> Rouge::score_pair(std::string_view prediction, std::string_view reference) const {
  Numbers numbers(options_);
  const Words found = numbers.of(prediction), right = numbers.of(reference);
  std::vector<RougeScore> scores;
  for (const std::string& type : options_.types) {
    if (const std::size_t order = order_of(type); order > 0) {
      scores.push_back(ngram_score(found, right, order));
    } else if (type == "rougeL") {
      scores.push_back(score_of(static_cast<double>(common_length(right, found)), found.size(), right.size()));
    } else {
      const Sentences found_lines = numbers.of_sentences(prediction), lines = numbers.of_sentences(reference);
      scores.push_back(score_of(summary_hits(lines, found_lines), total(found_lines), total(lines)));
    }
  }
  return scores;
}

std::vector<std::string> rouge_words(std::string_view text, bool use_stemmer, bool characters) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (word.size() > 3 && use_stemmer) word = porter_stem(word);
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  const std::string lowered = text::lower(text);
  for (const CodePoint& point : Utf8View(lowered)) {
    if ((point.value >= 'a' && point.value <= 'z') || (point.value >= '0' && point.value <= '9')) {
      word += static_cast<char>(point.value);
      continue;
    }
    finish();
    if (!characters || !text::is_chinese(point.value)) continue;
    utf8_append(words.emplace_back(), point.value);
  }
  finish();
  return words;
}

std::vector<std::size_t> common_subsequence(std::span<const std::uint32_t> reference,
                                            std::span<const std::uint32_t> prediction) {
  constexpr std::size_t kMostCells = std::size_t{1} << 28;
  const std::size_t columns = prediction.size() + 1;
  HEED_CHECK(reference.size() < kMostCells / columns, "[rouge] a sentence of ", reference.size(),
             " words against one of ", prediction.size(), " is too long");
  std::vector<std::uint32_t> lengths((reference.size() + 1) * columns);
  for (std::size_t i = 1; i <= reference.size(); ++i) {
    for (std::size_t j = 1; j <= prediction.size(); ++j) {
      std::uint32_t* here = &lengths[i * columns + j];
      *here = reference[i - 1] == prediction[j - 1] ? here[-static_cast<std::ptrdiff_t>(columns) - 1] + 1
                                                    : std::max(here[-static_cast<std::ptrdiff_t>(columns)], here[-1]);
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t i = reference.size(), j = prediction.size(); i > 0 && j > 0;) {
    if (reference[i - 1] == prediction[j - 1]) {
      places.push_back(--i);
      --j;
    } else if (lengths[i * columns + j - 1] > lengths[(i - 1) * columns + j]) {
      --j;
    } else {
      --i;
    }
  }
  std::ranges::reverse(places);
  return places;
}

}  // namespace heed

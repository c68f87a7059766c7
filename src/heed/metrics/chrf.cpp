#include "heed/metrics/chrf.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/metrics/ngrams.h"
#include "heed/metrics/words.h"
#include "heed/text/letter_case.h"

namespace heed {
namespace {

// The numbers of a segment, for each order of characters and then of words: how many n-grams the prediction has, how
// many the reference, how many are in both.
constexpr std::size_t kPerOrder = 3;

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Words less a punctuation mark at the end, or else at the beginning, which is a word of its own.
std::vector<std::string_view> words_and_marks(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split_words(text)) {
    const bool single = utf8_decode(word, 0).length == word.size();
    if (!single && is_ascii_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (!single && is_ascii_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

std::vector<std::uint32_t> characters_of(std::string_view text, bool whitespace) {
  std::vector<std::uint32_t> points;
  for (const CodePoint& point : Utf8View(text)) {
    if (whitespace || !text::is_space(point.value)) points.push_back(point.value);
  }
  return points;
}

class ChrfSegments : public CorpusMetric::Segments {
 public:
  ChrfSegments(const CorpusMetric& metric, const ChrfOptions& options) : metric_(metric), options_(options) {}

  // The reference by which the segment scores best counts.
  void score(std::string_view prediction, std::span<const std::string_view> references,
             std::span<double> numbers) override {
    characters_.clear();
    words_.clear();
    word_numbers_.clear();
    std::vector<std::string> texts;  // which the words view
    texts.reserve(references.size() + 1);
    const auto part_of = [&](std::string_view text) {
      texts.push_back(options_.lowercase ? text::lower(text) : std::string(text));
      return counted(texts.back());
    };
    const Counted found = part_of(prediction);
    double best = -1;
    for (const std::string_view reference : references) {
      const std::vector<double> each = compared(found, part_of(reference));
      const double score = metric_.score(each);
      if (score <= best) continue;
      best = score;
      std::ranges::copy(each, numbers.begin());
    }
  }

 private:
  struct Counted {
    std::size_t character_count = 0, word_count = 0;
    NgramTable::Counts characters{}, words{};
  };

  Counted counted(std::string_view text) {
    Counted result;
    const auto points = characters_of(text, options_.whitespace);
    result.character_count = points.size();
    result.characters = characters_.count(points, static_cast<std::size_t>(options_.char_order));
    if (options_.word_order == 0) return result;
    const auto words = word_numbers_.of(words_and_marks(text));
    result.word_count = words.size();
    result.words = words_.count(words, static_cast<std::size_t>(options_.word_order));
    return result;
  }

  std::vector<double> compared(const Counted& found, const Counted& right) const {
    std::vector<double> numbers;
    const auto append = [&](std::int64_t order, const NgramTable& table, const NgramTable::Counts& a,
                            const NgramTable::Counts& b, std::size_t length_a, std::size_t length_b) {
      std::vector<double> matches(static_cast<std::size_t>(order));
      add_matches(table, a, b, matches);
      for (std::size_t n = 1; n <= matches.size(); ++n) {
        const std::size_t total = ngram_total(length_b, n);
        // What the reference is too short for is not held against the prediction.
        numbers.push_back(total > 0 ? static_cast<double>(ngram_total(length_a, n)) : 0);
        numbers.push_back(static_cast<double>(total));
        numbers.push_back(matches[n - 1]);
      }
    };
    append(options_.char_order, characters_, found.characters, right.characters, found.character_count,
           right.character_count);
    append(options_.word_order, words_, found.words, right.words, found.word_count, right.word_count);
    return numbers;
  }

  const CorpusMetric& metric_;
  const ChrfOptions& options_;
  NgramTable characters_, words_;
  WordNumbers word_numbers_;
};

}  // namespace

Fields ChrfOptions::fields() {
  const auto up_to_100 = [](const std::int64_t& order, std::int64_t least) {
    return [&order, least] { return order >= least && order <= 100; };
  };
  return {
      Field("char_order", char_order, "the longest n-grams of characters").where(up_to_100(char_order, 1), "1 to 100"),
      Field("word_order", word_order, "the longest n-grams of words; 2 is chrF++")
          .where(up_to_100(word_order, 0), "0 to 100"),
      Field("beta", beta, "how much more recall weighs than precision").where(up_to_100(beta, 0), "0 to 100"),
      Field("lowercase", lowercase, "large and small letters are the same"),
      Field("whitespace", whitespace, "white space counts as characters"),
      Field("eps_smoothing", eps_smoothing, "orders without n-grams count, as in chrF++.py and NLTK"),
  };
}

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  for (const Field& field : options_.fields()) field.check("[chrf]");
}

std::string Chrf::name() const {
  return "chrF" + std::to_string(options_.beta) + std::string(static_cast<std::size_t>(options_.word_order), '+');
}

std::vector<SignatureItem> Chrf::signature() const {
  return {{"case", "c", options_.lowercase ? "lc" : "mixed"},
          {"eff", "e", options_.eps_smoothing ? "no" : "yes"},
          {"nc", "nc", std::to_string(options_.char_order)},
          {"nw", "nw", std::to_string(options_.word_order)},
          {"space", "s", options_.whitespace ? "yes" : "no"}};
}

std::size_t Chrf::width() const {
  return kPerOrder * static_cast<std::size_t>(options_.char_order + options_.word_order);
}

std::unique_ptr<CorpusMetric::Segments> Chrf::segments() const {
  return std::make_unique<ChrfSegments>(*this, options_);
}

double Chrf::score(std::span<const double> sums) const {
  constexpr double kAlmostNothing = 1e-16;
  const auto factor = static_cast<double>(options_.beta * options_.beta);
  const auto f_score = [&](double precision, double recall) {
    return (1 + factor) * precision * recall / (factor * precision + recall);
  };
  double smoothed = 0, precisions = 0, recalls = 0, orders = 0;
  for (std::size_t i = 0; i < sums.size(); i += kPerOrder) {
    const double found = sums[i], right = sums[i + 1], both = sums[i + 2];
    const double precision = found > 0 ? both / found : kAlmostNothing;
    const double recall = right > 0 ? both / right : kAlmostNothing;
    smoothed += factor * precision + recall > 0 ? f_score(precision, recall) : kAlmostNothing;
    if (found == 0 || right == 0) continue;
    precisions += precision;
    recalls += recall;
    ++orders;
  }
  if (options_.eps_smoothing) return 100 * smoothed / static_cast<double>(options_.char_order + options_.word_order);
  if (orders == 0 || precisions + recalls == 0) return 0;
  return 100 * f_score(precisions / orders, recalls / orders);
}

Json Chrf::details(std::span<const double> /*sums*/) const {
  return {{"char_order", options_.char_order}, {"word_order", options_.word_order}, {"beta", options_.beta}};
}

}  // namespace heed

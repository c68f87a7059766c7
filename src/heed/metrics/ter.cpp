#include "heed/metrics/ter.h"

#include <algorithm>

#include "heed/metrics/ngrams.h"
#include "heed/metrics/words.h"

namespace heed {
namespace {

class TerSegments : public CorpusMetric::Segments {
 public:
  explicit TerSegments(const TerOptions& options) : options_(options) {}

  // The fewest edits, and the mean length of the references.
  void score(std::string_view prediction, std::span<const std::string_view> references,
             std::span<double> numbers) override {
    words_.clear();
    std::vector<std::string> texts;  // which the words view
    texts.reserve(references.size() + 1);
    const auto words_of = [&](std::string_view text) {
      texts.push_back(ter_text(strip_right(text), options_));
      return words_.of(split_words(texts.back()));
    };
    const auto words = words_of(prediction);
    std::size_t fewest = SIZE_MAX, length = 0;
    for (const std::string_view each : references) {
      const auto reference = words_of(each);
      fewest = std::min(fewest, translation_edits(words, reference));
      length += reference.size();
    }
    numbers[0] = static_cast<double>(fewest);
    numbers[1] = static_cast<double>(length) / static_cast<double>(references.size());
  }

 private:
  const TerOptions& options_;
  WordNumbers words_;
};

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

}  // namespace

std::vector<SignatureItem> Ter::signature() const {
  return {{"case", "c", options_.case_sensitive ? "mixed" : "lc"},
          {"tok", "t", "tercom"},
          {"norm", "nr", yes_or_no(options_.normalized)},
          {"punct", "pn", yes_or_no(!options_.no_punct)},
          {"asian", "as", yes_or_no(options_.asian_support)}};
}

std::unique_ptr<CorpusMetric::Segments> Ter::segments() const {
  return std::make_unique<TerSegments>(options_);
}

double Ter::score(std::span<const double> sums) const {
  const double edits = sums[0], length = sums[1];
  return 100 * (length > 0 ? edits / length : edits > 0 ? 1 : 0);
}

Json Ter::details(std::span<const double> sums) const {
  return {{"num_edits", number_json(sums[0])}, {"ref_length", number_json(sums[1])}};
}

}  // namespace heed

// What BLEU, chrF and TER have in common, as sacrebleu has it: each segment gives numbers, a score is a function of
// their sums over all segments, and a signature says how it was computed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

// One item of a signature, as "case:mixed" or in short "c:mixed".
struct SignatureItem {
  std::string name, short_name, value;
};
// Items between bars.
std::string signature_text(const std::vector<SignatureItem>& items, bool in_short);

// A text of each segment: one list of predictions, any number of lists of references, of which some may be missing.
using Lines = std::vector<std::string>;
using References = std::vector<std::optional<std::string>>;

class CorpusMetric {
 public:
  virtual ~CorpusMetric() = default;
  // "BLEU", "chrF2++".
  virtual std::string name() const = 0;
  // How it is computed.
  virtual std::vector<SignatureItem> signature() const = 0;

  // How many numbers a segment gives.
  virtual std::size_t width() const = 0;
  // Scores segments one after the other; belongs to one thread.
  class Segments {
   public:
    virtual ~Segments() = default;
    // `numbers` has width() zeros; there is at least one reference.
    virtual void score(std::string_view prediction, std::span<const std::string_view> references,
                       std::span<double> numbers) = 0;
  };
  virtual std::unique_ptr<Segments> segments() const = 0;

  // 0 to 100 (TER: and more), from sums.
  virtual double score(std::span<const double> sums) const = 0;
  // What the score is made of.
  virtual Json details(std::span<const double> sums) const = 0;
  // The same behind the score, for people; "": nothing.
  virtual std::string line(std::span<const double> /*sums*/) const { return ""; }
};

struct CorpusNumbers {
  std::size_t width = 0;
  std::vector<double> values{};  // [segment, width]
  std::size_t references = 0;    // how many each segment has; 0: not all the same number

  std::size_t segments() const { return values.size() / width; }
  std::span<const double> segment(std::size_t i) const { return std::span(values).subspan(i * width, width); }
  std::vector<double> sums() const;
};

// Whole numbers without a point.
Json number_json(double value);

// In parallel. Throws invalid_argument for lists of different lengths, none at all, and a segment without a reference.
CorpusNumbers corpus_numbers(const CorpusMetric& metric, const Lines& predictions,
                             const std::vector<References>& references);

// Draws of random segments that were made for a score: sacrebleu's bs, ar and seed.
struct Draws {
  std::int64_t bootstrap = 0, randomization = 0;  // how many; 0: none
  std::uint64_t seed = 0;
};
// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"; the version is that of sacrebleu whose rules these are.
std::string signature_of(const CorpusMetric& metric, std::size_t references, const Draws& draws, bool in_short = false);

}  // namespace heed

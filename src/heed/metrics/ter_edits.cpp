// The search of tercom for shifts: greedy, each step takes the shift after which the fewest words are to be edited.
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "heed/base/error.h"
#include "heed/metrics/ter.h"

namespace heed {
namespace {

using Words = std::vector<std::uint32_t>;
using WordSpan = std::span<const std::uint32_t>;

// tercom's limits, and the last one sacrebleu's.
constexpr std::size_t kLongestShift = 10, kFarthestShift = 50, kMostCandidates = 1000;
constexpr double kBeam = 25;

// Edit distances from texts of one length to a reference, in a band around the diagonal.
class EditDistance {
 public:
  EditDistance(WordSpan reference, std::size_t length) : reference_(reference), length_(length) {
    ratio_ = length == 0 ? 1 : static_cast<double>(reference.size()) / static_cast<double>(length);
    // A reference that is far longer: bands of neighbouring rows must meet.
    beam_ = kBeam < ratio_ / 2 ? std::ceil(ratio_ / 2 + kBeam) : kBeam;
    costs_.resize((length + 1) * columns());
    for (std::size_t j = 0; j < columns(); ++j) costs_[j] = static_cast<int>(j);
    next_.resize(2 * columns());
  }

  // Makes this the text that others are compared with.
  int set(WordSpan words) {
    for (std::size_t i = 1; i <= length_; ++i) fill_row(i, words[i - 1], row(i - 1), row(i));
    return costs_.back();
  }

  // Of a text whose first `same` words are those of the one that was set.
  int distance(WordSpan words, std::size_t same) {
    const int* before = row(same);
    int* here = next_.data();
    int* other = here + columns();
    for (std::size_t i = same + 1; i <= length_; ++i) {
      fill_row(i, words[i - 1], before, here);
      before = here;
      std::swap(here, other);
    }
    return before[reference_.size()];
  }

  // Which word of the text that was set stands for each of the reference (-1: before the first one), and which words
  // are edited.
  struct Alignment {
    std::vector<std::ptrdiff_t> places{};
    std::vector<bool> reference_edited{}, edited{};
  };
  Alignment alignment(WordSpan words) const {
    Alignment result{std::vector<std::ptrdiff_t>(reference_.size()), std::vector<bool>(reference_.size()),
                     std::vector<bool>(length_)};
    for (std::size_t i = length_, j = reference_.size(); i > 0 || j > 0;) {
      // Of equal costs a replacement comes first, then a word less, then one more.
      const int cost = at(i, j);
      if (i > 0 && j > 0 && at(i - 1, j - 1) + (words[i - 1] != reference_[j - 1] ? 1 : 0) == cost) {
        result.edited[i - 1] = result.reference_edited[j - 1] = words[i - 1] != reference_[j - 1];
        result.places[--j] = static_cast<std::ptrdiff_t>(--i);
      } else if (i > 0 && at(i - 1, j) + 1 == cost) {
        result.edited[--i] = true;
      } else {
        result.reference_edited[--j] = true;
        result.places[j] = static_cast<std::ptrdiff_t>(i) - 1;
      }
    }
    return result;
  }

 private:
  static constexpr int kFar = 1 << 29;  // outside of the band

  std::size_t columns() const { return reference_.size() + 1; }
  int* row(std::size_t i) { return costs_.data() + i * columns(); }
  int at(std::size_t i, std::size_t j) const { return costs_[i * columns() + j]; }

  void fill_row(std::size_t i, std::uint32_t word, const int* before, int* here) const {
    const double middle = std::floor(static_cast<double>(i) * ratio_);
    const auto begin = static_cast<std::size_t>(std::max(0.0, middle - beam_));
    const auto end =
        i == length_ ? columns() : static_cast<std::size_t>(std::min(static_cast<double>(columns()), middle + beam_));
    std::fill(here, here + std::min(begin, columns()), kFar);
    int left = kFar;
    for (std::size_t j = begin; j < end; ++j) {
      int cost = std::min(before[j], left) + 1;
      if (j > 0) cost = std::min(cost, before[j - 1] + (word != reference_[j - 1] ? 1 : 0));
      here[j] = left = cost;
    }
    if (end < columns()) std::fill(here + end, here + columns(), kFar);
  }

  WordSpan reference_;
  std::size_t length_;
  double ratio_, beam_;
  std::vector<int> costs_;  // [length + 1, reference + 1]
  std::vector<int> next_;   // two rows
};

// words[begin, begin + length) to where the word `target` is.
struct Shift {
  std::size_t begin = 0, length = 0, target = 0;

  std::size_t first_changed() const { return std::min(begin, target); }
  void apply(const Words& words, Words& shifted) const {
    shifted.assign(words.begin(), words.end());
    const auto first = shifted.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(length);
    if (target < begin) {
      std::rotate(shifted.begin() + static_cast<std::ptrdiff_t>(target), first, last);
    } else {
      // Within itself: as many words further as it is from its beginning.
      const std::size_t end = target > begin + length ? target : std::min(length + target, words.size());
      std::rotate(first, last, shifted.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
};

class ShiftSearch {
 public:
  ShiftSearch(WordSpan words, WordSpan reference)
      : words_(words.begin(), words.end()), reference_(reference), distance_(reference, words.size()) {}

  std::size_t edits() {
    std::size_t shifts = 0;
    for (;;) {
      cost_ = distance_.set(words_);
      if (cost_ == 0 || !improve()) break;
      ++shifts;
    }
    return shifts + static_cast<std::size_t>(cost_);
  }

 private:
  // Makes the best shift; false if none is to be made.
  bool improve() {
    alignment_ = distance_.alignment(words_);
    best_.reset();
    visit_common_runs();
    if (candidates_ >= kMostCandidates || !best_ || std::get<0>(*best_) <= 0) return false;
    const Shift shift = shift_;
    shift.apply(words_, shifted_);
    words_.swap(shifted_);
    return true;
  }

  // Runs of words that the reference has too, in some other place.
  void visit_common_runs() {
    for (std::size_t begin = 0; begin < words_.size(); ++begin) {
      const std::size_t nearest = begin < kFarthestShift ? 0 : begin - kFarthestShift;
      const std::size_t farthest = std::min(reference_.size(), begin + kFarthestShift + 1);
      for (std::size_t place = nearest; place < farthest; ++place) {
        for (std::size_t length = 1; length <= kLongestShift; ++length) {
          if (begin + length > words_.size() || place + length > reference_.size() ||
              words_[begin + length - 1] != reference_[place + length - 1]) {
            break;
          }
          try_run(begin, place, length);
          if (candidates_ >= kMostCandidates) return;
        }
      }
    }
  }

  void try_run(std::size_t begin, std::size_t place, std::size_t length) {
    const auto any = [length](const std::vector<bool>& edited, std::size_t from) {
      const auto first = edited.begin() + static_cast<std::ptrdiff_t>(from);
      return std::find(first, first + static_cast<std::ptrdiff_t>(length), true) !=
             first + static_cast<std::ptrdiff_t>(length);
    };
    if (!any(alignment_.edited, begin) || !any(alignment_.reference_edited, place)) return;
    const std::ptrdiff_t aligned = alignment_.places[place];
    if (aligned >= static_cast<std::ptrdiff_t>(begin) && aligned < static_cast<std::ptrdiff_t>(begin + length)) return;
    // Before the words that stand for the run in the reference, and for the word before it.
    std::optional<std::size_t> last;
    for (std::size_t next = place; next <= place + length && next <= reference_.size(); ++next) {
      const std::size_t target = next == 0 ? 0 : static_cast<std::size_t>(alignment_.places[next - 1] + 1);
      if (target == last) continue;
      last = target;
      try_shift({begin, length, target});
    }
  }

  // Of equal gains the longest, then the first run, then the first target is best.
  void try_shift(const Shift& shift) {
    ++candidates_;
    shift.apply(words_, shifted_);
    const int gain = cost_ - distance_.distance(shifted_, shift.first_changed());
    const Rank rank(gain, static_cast<std::ptrdiff_t>(shift.length), -static_cast<std::ptrdiff_t>(shift.begin),
                    -static_cast<std::ptrdiff_t>(shift.target));
    if (best_ && rank <= *best_) return;
    best_ = rank;
    shift_ = shift;
  }

  using Rank = std::tuple<int, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t>;

  Words words_, shifted_;
  WordSpan reference_;
  EditDistance distance_;
  EditDistance::Alignment alignment_;
  int cost_ = 0;
  std::size_t candidates_ = 0;
  std::optional<Rank> best_;
  Shift shift_;
};

}  // namespace

std::size_t translation_edits(std::span<const std::uint32_t> words, std::span<const std::uint32_t> reference) {
  if (reference.empty()) return words.size();
  constexpr std::size_t kMostCells = std::size_t{1} << 28;
  HEED_CHECK(words.size() < kMostCells / (reference.size() + 1), "[ter] a text of ", words.size(),
             " words against one of ", reference.size(), " is too long; segments are to be sentences");
  return ShiftSearch(words, reference).edits();
}

}  // namespace heed

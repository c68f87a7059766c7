#include "heed/metrics/ngrams.h"

#include <algorithm>

namespace heed {
namespace {

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

std::vector<std::uint32_t> WordNumbers::of(std::span<const std::string_view> words) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (const std::string_view word : words) {
    numbers.push_back(numbers_.try_emplace(word, static_cast<std::uint32_t>(numbers_.size())).first->second);
  }
  return numbers;
}

NgramTable::NgramTable() : slots_(kFirstSlots), lengths_(1) {}

void NgramTable::clear() {
  lengths_.resize(1);
  if (++round_ != 0) return;
  std::ranges::fill(slots_, Slot{});
  round_ = 1;
}

NgramTable::Counts NgramTable::count(std::span<const std::uint32_t> symbols, std::size_t order) {
  Counts counts;
  for (std::size_t begin = 0; begin < symbols.size(); ++begin) {
    std::uint32_t ngram = 0;
    for (const std::uint32_t symbol : symbols.subspan(begin, std::min(order, symbols.size() - begin))) {
      ngram = longer(ngram, symbol);
      if (ngram >= counts.size()) counts.resize(lengths_.size());
      ++counts[ngram];
    }
  }
  return counts;
}

std::uint32_t NgramTable::longer(std::uint32_t ngram, std::uint32_t symbol) {
  const std::uint64_t key = std::uint64_t{ngram} << 32 | symbol;
  std::size_t place = place_of(key);
  if (slots_[place].round == round_) return slots_[place].ngram;
  if (lengths_.size() * 2 > slots_.size()) {
    grow();
    place = place_of(key);
  }
  const auto number = static_cast<std::uint32_t>(lengths_.size());
  slots_[place] = {key, number, round_};
  lengths_.push_back(lengths_[ngram] + 1);
  return number;
}

// Where the key is, or where it belongs.
std::size_t NgramTable::place_of(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t hash = key * 0x9E3779B97F4A7C15;
  std::size_t place = static_cast<std::size_t>(hash ^ hash >> 32) & mask;
  while (slots_[place].round == round_ && slots_[place].key != key) place = (place + 1) & mask;
  return place;
}

void NgramTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.round == round_) slots_[place_of(slot.key)] = slot;
  }
}

void add_matches(const NgramTable& table, const NgramTable::Counts& a, const NgramTable::Counts& b,
                 std::span<double> matches) {
  for (std::size_t ngram = 1; ngram < std::min(a.size(), b.size()); ++ngram) {
    const std::uint32_t both = std::min(a[ngram], b[ngram]);
    if (both > 0) matches[table.length(ngram) - 1] += both;
  }
}

}  // namespace heed

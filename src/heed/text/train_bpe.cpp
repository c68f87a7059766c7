#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/stop.h"
#include "heed/base/utf8.h"
#include "heed/text/train.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

constexpr const char* kWhere = "[train_bpe]";

using Pair = std::pair<std::int32_t, std::int32_t>;

struct PairHash {
  std::size_t operator()(const Pair& pair) const {
    const auto key =
        std::uint64_t{static_cast<std::uint32_t>(pair.first)} << 32 | static_cast<std::uint32_t>(pair.second);
    return key * 0x9E3779B97F4A7C15u >> 13;
  }
};

// A pair that may be merged next, and the words it was seen in when the entry was made. Like HuggingFace's trainer, a
// pair may have several entries, each with words of its own; its count is shared and never lowered by its own merges.
struct Candidate {
  std::int64_t count;
  Pair pair;
  std::vector<std::uint32_t> words;

  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class BpeTrainer {
 public:
  BpeTrainer(const WordCounts& words, const TrainOptions& options) : words_(words), options_(options) {}

  void run() {
    for (const std::string& token : options_.special_tokens) id_of(token);
    add_alphabet();
    split_words();
    count_pairs();
    merge();
  }

  Json vocab() const { return vocabulary_.to_json(); }
  // A pair that was merged twice has the place of the second time.
  Json merges() const {
    std::unordered_map<Pair, std::size_t, PairHash> last;
    for (std::size_t i = 0; i < merges_.size(); ++i) last[merges_[i]] = i;
    Json list = Json::array();
    for (std::size_t i = 0; i < merges_.size(); ++i) {
      if (last[merges_[i]] != i) continue;
      list.push_back(Json::array({token(merges_[i].first), token(merges_[i].second)}));
    }
    return list;
  }

 private:
  std::string token(std::int32_t id) const { return std::string(vocabulary_.token(id)); }
  std::int32_t id_of(const std::string& text) {
    if (const std::optional<std::int32_t> id = vocabulary_.find(text)) return *id;
    const std::int32_t id = vocabulary_.size();
    vocabulary_.add(text, id, "[train]");
    return id;
  }

  // The characters of the words, without the rarest ones when there is a limit, in the order of their code points.
  void add_alphabet() {
    std::map<char32_t, std::int64_t> counts;
    for (const auto& [word, count] : words_) {
      for (const CodePoint& point : Utf8View(word)) counts[point.value] += count;
    }
    for (const CodePoint& point : Utf8View(options_.initial_alphabet)) {
      counts[point.value] = std::numeric_limits<std::int64_t>::max();
    }
    std::vector<std::pair<char32_t, std::int64_t>> kept(counts.begin(), counts.end());
    const auto limit =
        static_cast<std::size_t>(options_.limit_alphabet.value_or(static_cast<std::int64_t>(kept.size())));
    if (kept.size() > limit) {
      std::ranges::stable_sort(kept, std::greater<>{}, &std::pair<char32_t, std::int64_t>::second);
      kept.resize(limit);
      std::ranges::sort(kept);
    }
    for (const auto& [character, count] : kept) {
      std::string text;
      utf8_append(text, character);
      id_of(text);
    }
  }

  void split_words() {
    symbols_.resize(words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) {
      stop_.check(kWhere);
      const std::string& word = words_[i].first;
      for (const CodePoint& point : Utf8View(word)) {
        std::string text = word.substr(point.offset, point.length);
        if (!vocabulary_.find(text)) continue;
        if (point.offset > 0) text = options_.continuing_subword_prefix.value_or("") + text;
        if (point.offset + point.length == word.size()) text += options_.end_of_word_suffix.value_or("");
        symbols_[i].push_back(id_of(text));
      }
    }
  }

  void count_pairs() {
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      stop_.check(kWhere);
      for (std::size_t at = 0; at + 1 < symbols_[i].size(); ++at) {
        add({symbols_[i][at], symbols_[i][at + 1]}, words_[i].second, i);
      }
    }
    push_new();
  }

  void add(const Pair& pair, std::int64_t count, std::uint32_t word) {
    counts_[pair] += count;
    if (count <= 0) return;
    std::vector<std::uint32_t>& words = where_[pair];
    if (words.empty() || words.back() != word) words.push_back(word);
  }

  void push(Candidate candidate) {
    heap_.push_back(std::move(candidate));
    std::push_heap(heap_.begin(), heap_.end());
  }
  Candidate pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    Candidate top = std::move(heap_.back());
    heap_.pop_back();
    return top;
  }

  void push_new() {
    for (auto& [pair, words] : where_) {
      const std::int64_t count = counts_[pair];
      if (count > 0) push({count, pair, std::move(words)});
    }
    where_.clear();
  }

  // Replaces the pair in one word and books the neighbours that go and come.
  void merge_in(std::uint32_t word, const Pair& pair, std::int32_t result) {
    std::vector<std::int32_t>& symbols = symbols_[word];
    const std::int64_t count = words_[word].second;
    std::size_t out = 0;
    for (std::size_t at = 0; at < symbols.size(); ++at) {
      if (at + 1 == symbols.size() || symbols[at] != pair.first || symbols[at + 1] != pair.second) {
        symbols[out++] = symbols[at];
        continue;
      }
      if (out > 0) {
        add({symbols[out - 1], pair.first}, -count, word);
        add({symbols[out - 1], result}, count, word);
      }
      if (at + 2 < symbols.size()) {
        add({pair.second, symbols[at + 2]}, -count, word);
        add({result, symbols[at + 2]}, count, word);
      }
      symbols[out++] = result;
      ++at;
    }
    symbols.resize(out);
  }

  std::string merged(const Pair& pair) const {
    std::string right = token(pair.second);
    const std::string prefix = options_.continuing_subword_prefix.value_or("");
    if (right.starts_with(prefix)) right.erase(0, prefix.size());
    return token(pair.first) + right;
  }

  void merge() {
    const std::int64_t start = vocabulary_.size(), goal = options_.vocab_size;
    while (vocabulary_.size() < goal && !heap_.empty()) {
      Candidate top = pop();
      if (top.count != counts_[top.pair]) {
        top.count = counts_[top.pair];
        push(std::move(top));
        continue;
      }
      if (top.count < 1 || top.count < options_.min_frequency) break;
      const std::int32_t result = id_of(merged(top.pair));
      merges_.push_back(top.pair);
      for (const std::uint32_t word : top.words) {
        stop_.check(kWhere);
        merge_in(word, top.pair, result);
      }
      push_new();
      if (options_.progress && merges_.size() % 64 == 0) {
        options_.progress(static_cast<double>(vocabulary_.size() - start) / static_cast<double>(goal - start));
      }
    }
    if (options_.progress) options_.progress(1);
  }

  const WordCounts& words_;
  const TrainOptions& options_;
  StopToken stop_ = StopScope::current();
  Vocabulary vocabulary_;
  std::vector<std::vector<std::int32_t>> symbols_;  // of each word
  std::unordered_map<Pair, std::int64_t, PairHash> counts_;
  std::unordered_map<Pair, std::vector<std::uint32_t>, PairHash> where_;  // pairs to push, with their words in order
  std::vector<Candidate> heap_;                                           // the best first
  std::vector<Pair> merges_;
};

}  // namespace

Json train_bpe(const WordCounts& words, const TrainOptions& options) {
  BpeTrainer trainer(words, options);
  trainer.run();
  const auto text = [](const std::optional<std::string>& value) { return value ? Json(*value) : Json(); };
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", text(options.unk_token)},
          {"continuing_subword_prefix", text(options.continuing_subword_prefix)},
          {"end_of_word_suffix", text(options.end_of_word_suffix)},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", trainer.vocab()},
          {"merges", trainer.merges()}};
}

Json train_word_piece(const WordCounts& words, const TrainOptions& options) {
  TrainOptions with_prefix = options;
  if (!with_prefix.continuing_subword_prefix) with_prefix.continuing_subword_prefix = "##";
  BpeTrainer trainer(words, with_prefix);
  trainer.run();
  return {{"type", "WordPiece"},
          {"unk_token", options.unk_token.value_or("[UNK]")},
          {"continuing_subword_prefix", *with_prefix.continuing_subword_prefix},
          {"max_input_chars_per_word", 100},
          {"vocab", trainer.vocab()}};
}

Json train_word_level(const WordCounts& words, const TrainOptions& options) {
  std::vector<const WordCounts::value_type*> ranked;
  for (const auto& word : words) {
    if (word.second >= options.min_frequency) ranked.push_back(&word);
  }
  std::ranges::stable_sort(ranked, std::greater<>{}, [](const auto* word) { return word->second; });
  Vocabulary vocabulary;
  std::int32_t next = 0;
  const auto add = [&](const std::string& token) {
    if (next < options.vocab_size) vocabulary.add(token, next++, "[train]");
  };
  for (const std::string& token : options.special_tokens) add(token);
  for (const auto* word : ranked) add(word->first);
  return {{"type", "WordLevel"}, {"unk_token", options.unk_token.value_or("[UNK]")}, {"vocab", vocabulary.to_json()}};
}

}  // namespace heed::text

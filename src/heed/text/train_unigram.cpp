#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/stop.h"
#include "heed/base/utf8.h"
#include "heed/text/train.h"
#include "heed/text/trie.h"
#include "heed/text/unigram.h"

namespace heed::text {
namespace {

constexpr const char* kWhere = "[train_unigram]";
constexpr std::size_t kSeeds = 1'000'000, kMaxPieceLength = 16;  // characters
constexpr int kRounds = 2;                                       // of EM between prunings
constexpr double kShrink = 0.75, kMinExpected = 0.5, kUnknownPenalty = 10;
// Words are summed in this many blocks, one after the other: the sums do not depend on the number of threads.
constexpr std::size_t kBlocks = 16;

double digamma(double x) {
  double result = 0;
  for (; x < 7; ++x) result -= 1 / x;
  x -= 0.5;
  const double y = 1 / (x * x);
  return result + std::log(x) + y * (1.0 / 24 - y * (7.0 / 960 - y * (31.0 / 8064 - y * 127.0 / 30720)));
}

double log_add(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return high > low + 50 ? high : high + std::log1p(std::exp(low - high));
}

// Pieces with their log probabilities; piece 0 is the unknown character and matches no text.
class Lexicon {
 public:
  explicit Lexicon(const std::vector<ScoredToken>& pieces) : pieces_(pieces) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      keys.emplace_back(pieces[i].token, static_cast<std::int32_t>(i));
      least_ = std::min(least_, pieces[i].score);
    }
    trie_ = Trie(std::move(keys));
  }

  double least() const { return least_; }

  // Calls visit(begin, end, id, score) for each piece that occurs in the word and for unknown characters, begins
  // ascending.
  template <class Visit>
  void for_each_match(std::string_view word, const Visit& visit) const {
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t character = utf8_decode(word, begin).length;
      bool covered = false;
      trie_.for_each_at(word, begin, [&](std::size_t end, std::int32_t id) {
        visit(begin, end, id, pieces_[static_cast<std::size_t>(id)].score);
        covered |= end - begin == character;
      });
      if (!covered) visit(begin, begin + character, 0, least_ - kUnknownPenalty);
      begin += character;
    }
  }

  // The best pieces of the word, last first; with `whole` false one piece may not be all of it. Empty: no way.
  void best(std::string_view word, bool whole, std::vector<std::int32_t>& ids) const {
    struct Step {
      double score = -std::numeric_limits<double>::infinity();
      std::int32_t id = -1;
      std::size_t begin = 0;
    };
    thread_local std::vector<Step> steps;
    steps.assign(word.size() + 1, {});
    steps[0].score = 0;
    for_each_match(word, [&](std::size_t begin, std::size_t end, std::int32_t id, double score) {
      if (!whole && begin == 0 && end == word.size()) return;
      const double total = steps[begin].score + score;
      if (total > steps[end].score) steps[end] = {total, id, begin};
    });
    ids.clear();
    for (std::size_t end = word.size(); end > 0; end = steps[end].begin) {
      if (steps[end].id < 0) return ids.clear();
      ids.push_back(steps[end].id);
    }
  }

  // Adds to expected[id] how often each piece is expected in `count` occurrences of the word (forward-backward).
  void add_expected(std::string_view word, double count, std::vector<double>& expected) const {
    struct Match {
      std::size_t begin, end;
      std::int32_t id;
      double score;
    };
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    thread_local std::vector<Match> matches;
    thread_local std::vector<double> forward, backward;  // log probability of all ways to and from a place
    matches.clear();
    for_each_match(word, [&](std::size_t begin, std::size_t end, std::int32_t id, double score) {
      matches.push_back({begin, end, id, score});
    });
    forward.assign(word.size() + 1, kNever);
    backward.assign(word.size() + 1, kNever);
    forward[0] = backward[word.size()] = 0;
    const auto add = [](double& sum, double term) {
      if (term != kNever) sum = sum == kNever ? term : log_add(sum, term);
    };
    for (const Match& m : matches) add(forward[m.end], forward[m.begin] + m.score);
    for (auto m = matches.rbegin(); m != matches.rend(); ++m) add(backward[m->begin], backward[m->end] + m->score);
    for (const Match& m : matches) {
      const double log_share = forward[m.begin] + m.score + backward[m.end] - forward[word.size()];
      expected[static_cast<std::size_t>(m.id)] += count * std::exp(log_share);
    }
  }

 private:
  const std::vector<ScoredToken>& pieces_;
  Trie trie_;
  double least_ = std::numeric_limits<double>::infinity();
};

// sums[id] of add(word, count, sums) over all words, by blocks.
template <class Add>
std::vector<double> sum_over_words(const WordCounts& words, std::size_t ids, const Add& add) {
  const StopToken stop = StopScope::current();  // the helpers of a loop have none of their own
  std::vector<std::vector<double>> blocks(kBlocks);
  parallel_for(kBlocks, 1, [&](std::int64_t first, std::int64_t last) {
    for (auto block = static_cast<std::size_t>(first); block < static_cast<std::size_t>(last); ++block) {
      blocks[block].assign(ids, 0);
      for (std::size_t i = words.size() * block / kBlocks; i < words.size() * (block + 1) / kBlocks; ++i) {
        stop.check(kWhere);
        add(words[i].first, static_cast<double>(words[i].second), blocks[block]);
      }
    }
  });
  for (std::size_t block = 1; block < kBlocks; ++block) {
    for (std::size_t id = 0; id < ids; ++id) blocks[0][id] += blocks[block][id];
  }
  return std::move(blocks[0]);
}

// Substrings of at least two characters that different characters follow in different places (the inner nodes of the
// suffix tree), scored by occurrences times length.
std::vector<std::pair<std::int64_t, std::u32string>> repeated_substrings(const WordCounts& words) {
  constexpr std::size_t kWindow = kMaxPieceLength + 1;
  std::u32string text;
  for (const auto& [word, count] : words) {
    for (const CodePoint& point : Utf8View(word)) text.push_back(point.value);
    text.push_back(0);
  }
  const auto window = [&](std::uint32_t at) {
    const std::u32string_view rest = std::u32string_view(text).substr(at, kWindow);
    return rest.substr(0, std::min(rest.find(U'\0'), rest.size() - 1) + 1);  // up to the end of the word, that included
  };
  std::vector<std::uint32_t> suffixes;
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    if (text[i] != 0) suffixes.push_back(i);
  }
  const StopToken stop = StopScope::current();
  std::ranges::sort(suffixes, [&](std::uint32_t a, std::uint32_t b) {
    stop.check(kWhere);
    const int order = window(a).compare(window(b));
    return order != 0 ? order < 0 : a < b;
  });
  // Intervals of suffixes with a common prefix, kept on a stack; each ends where the prefix gets shorter.
  struct Open {
    std::size_t length, begin;
  };
  std::vector<Open> open{{0, 0}};
  std::vector<std::pair<std::int64_t, std::u32string>> found;
  for (std::size_t i = 1; i <= suffixes.size(); ++i) {
    stop.check(kWhere);
    std::size_t common = 0;
    if (i < suffixes.size()) {
      const std::u32string_view a = window(suffixes[i - 1]), b = window(suffixes[i]);
      common = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    }
    std::size_t begin = i - 1;
    while (open.back().length > common) {
      const Open closed = open.back();
      open.pop_back();
      begin = closed.begin;
      const std::u32string_view string = window(suffixes[begin]).substr(0, closed.length);
      if (closed.length < 2 || closed.length > kMaxPieceLength || string.back() == 0) continue;
      found.emplace_back(static_cast<std::int64_t>((i - begin) * closed.length), string);
    }
    if (open.back().length < common) open.push_back({common, begin});
  }
  return found;
}

std::string to_utf8(std::u32string_view characters) {
  std::string text;
  for (const char32_t c : characters) utf8_append(text, c);
  return text;
}

class UnigramTrainer {
 public:
  UnigramTrainer(const WordCounts& words, const TrainOptions& options)
      : words_(words), options_(options), goal_(static_cast<std::size_t>(options.vocab_size) * 11 / 10) {}

  std::vector<ScoredToken> run() {
    make_seeds();
    const double seeds = static_cast<double>(pieces_.size());
    while (true) {
      for (int round = 0; round < kRounds; ++round) expect_and_maximise();
      if (options_.progress) {
        const double span = std::max(1e-9, std::log(seeds / static_cast<double>(goal_)));
        options_.progress(std::clamp(std::log(seeds / static_cast<double>(pieces_.size())) / span, 0.0, 1.0));
      }
      const std::size_t before = pieces_.size();
      if (before <= goal_) break;
      prune();
      if (pieces_.size() == before) break;  // nothing left that could go
    }
    if (options_.progress) options_.progress(1);
    return finish();
  }

 private:
  void make_seeds() {
    std::map<char32_t, std::int64_t> characters;
    for (const auto& [word, count] : words_) {
      for (const CodePoint& point : Utf8View(word)) characters[point.value] += count;
    }
    std::vector<std::pair<std::int64_t, std::u32string>> singles;
    for (const auto& [character, count] : characters) singles.emplace_back(count, std::u32string(1, character));
    std::vector<std::pair<std::int64_t, std::u32string>> substrings = repeated_substrings(words_);
    std::ranges::sort(singles, std::greater<>{});
    std::ranges::sort(substrings, std::greater<>{});
    pieces_.push_back({"", std::numeric_limits<double>::quiet_NaN()});
    double sum = 0;
    for (const auto* list : {&singles, &substrings}) {
      for (const auto& [count, characters_of_piece] : *list) {
        if (list == &substrings && pieces_.size() > kSeeds) break;
        pieces_.push_back({to_utf8(characters_of_piece), static_cast<double>(count)});
        sum += static_cast<double>(count);
      }
    }
    for (std::size_t i = 1; i < pieces_.size(); ++i) pieces_[i].score = std::log(pieces_[i].score) - std::log(sum);
  }

  // One round of EM with the sparse prior of Liang and Klein: digamma for the logarithm.
  void expect_and_maximise() {
    const Lexicon lexicon(pieces_);
    const std::vector<double> expected =
        sum_over_words(words_, pieces_.size(), [&](const std::string& word, double count, std::vector<double>& sums) {
          lexicon.add_expected(word, count, sums);
        });
    std::vector<ScoredToken> kept{pieces_[0]};
    double sum = 0;
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      if (expected[i] < kMinExpected) continue;
      kept.push_back({std::move(pieces_[i].token), expected[i]});
      sum += expected[i];
    }
    for (std::size_t i = 1; i < kept.size(); ++i) kept[i].score = digamma(kept[i].score) - digamma(sum);
    pieces_ = std::move(kept);
  }

  // Drops the pieces whose loss would cost least: the fall of the likelihood when a piece is replaced by the best other
  // way to write it.
  void prune() {
    const Lexicon lexicon(pieces_);
    const StopToken stop = StopScope::current();
    std::vector<std::vector<std::int32_t>> instead(pieces_.size());
    std::vector<char> keep(pieces_.size(), 1);
    parallel_for(static_cast<std::int64_t>(pieces_.size()) - 1, 256, [&](std::int64_t first, std::int64_t last) {
      std::vector<std::int32_t> best;
      for (auto i = static_cast<std::size_t>(first) + 1; i <= static_cast<std::size_t>(last); ++i) {
        stop.check(kWhere);
        lexicon.best(pieces_[i].token, true, best);
        keep[i] = best.size() < 2;
        if (keep[i]) lexicon.best(pieces_[i].token, false, instead[i]);
      }
    });
    const std::vector<double> frequency =
        sum_over_words(words_, pieces_.size(), [&](const std::string& word, double count, std::vector<double>& sums) {
          thread_local std::vector<std::int32_t> best;
          lexicon.best(word, true, best);
          for (const std::int32_t id : best) sums[static_cast<std::size_t>(id)] += count;
        });
    double sum = 0, words = 0;
    for (const double f : frequency) sum += f;
    for (const auto& [word, count] : words_) words += static_cast<double>(count);
    std::vector<ScoredToken> kept{pieces_[0]};
    std::vector<std::pair<double, std::size_t>> losses;
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      if (frequency[i] == 0 && !keep[i]) continue;
      if (instead[i].empty()) {
        kept.push_back(pieces_[i]);
      } else if (frequency[i] > 0) {
        const double more = frequency[i] * static_cast<double>(instead[i].size() - 1);
        double log_instead = 0;
        for (const std::int32_t id : instead[i]) {
          log_instead += std::log(frequency[static_cast<std::size_t>(id)] + frequency[i]) - std::log(sum + more);
        }
        losses.emplace_back(frequency[i] / words * (std::log(frequency[i]) - std::log(sum) - log_instead), i);
      }
    }
    const auto shrunk = static_cast<std::size_t>(static_cast<double>(pieces_.size()) * kShrink);
    const std::size_t size = std::max(goal_, shrunk);
    std::ranges::stable_sort(losses, std::greater<>{}, &std::pair<double, std::size_t>::first);
    for (const auto& [loss, i] : losses) {
      if (kept.size() >= size) break;
      kept.push_back(pieces_[i]);
    }
    pieces_ = std::move(kept);
  }

  // Every character of the words stays; then the pieces in order until the vocabulary is full; sorted by score.
  std::vector<ScoredToken> finish() const {
    const double least = Lexicon(pieces_).least();
    std::unordered_map<std::string_view, double> scores;
    for (std::size_t i = 1; i < pieces_.size(); ++i) scores.emplace(pieces_[i].token, pieces_[i].score);
    std::set<std::string> required;
    const auto require = [&](std::string_view text) {
      for (const CodePoint& point : Utf8View(text)) required.emplace(text.substr(point.offset, point.length));
    };
    for (const auto& [word, count] : words_) require(word);
    require(options_.initial_alphabet);
    std::vector<ScoredToken> result, special;
    double penalty = 0;
    for (const std::string& character : required) {
      const auto found = scores.find(character);
      result.push_back({character, found != scores.end() ? found->second : least + penalty});
      if (found == scores.end()) penalty += 0.0001;
    }
    const bool add_unknown = options_.unk_token && std::ranges::find(options_.special_tokens, *options_.unk_token) ==
                                                       options_.special_tokens.end();
    if (add_unknown) special.push_back({*options_.unk_token, 0});
    for (const std::string& token : options_.special_tokens) special.push_back({token, 0});
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      if (result.size() + special.size() >= static_cast<std::size_t>(options_.vocab_size)) break;
      if (!required.contains(pieces_[i].token)) result.push_back(pieces_[i]);
    }
    std::ranges::stable_sort(result, std::greater<>{}, &ScoredToken::score);
    special.insert(special.end(), result.begin(), result.end());
    return special;
  }

  const WordCounts& words_;
  const TrainOptions& options_;
  const std::size_t goal_;  // pieces to stop at, a little above the size asked for
  std::vector<ScoredToken> pieces_;
};

}  // namespace

Json train_unigram(const WordCounts& words, const TrainOptions& options) {
  HEED_CHECK(std::cmp_less(options.special_tokens.size(), options.vocab_size), "[train_unigram] vocab_size ",
             options.vocab_size, " leaves no room beside ", options.special_tokens.size(), " special tokens");
  const std::vector<ScoredToken> pieces = UnigramTrainer(words, options).run();
  Json vocab = Json::array();
  Json unknown;
  for (const ScoredToken& piece : pieces) {
    if (unknown.is_null() && piece.token == options.unk_token) unknown = vocab.size();
    vocab.push_back(Json::array({piece.token, piece.score}));
  }
  return {{"type", "Unigram"}, {"unk_id", unknown}, {"vocab", std::move(vocab)}, {"byte_fallback", false}};
}

}  // namespace heed::text

#include "heed/text/unigram.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/text/byte_token.h"

namespace heed::text {
namespace {

constexpr double kUnknownPenalty = 10;  // below the least likely token

double power_of_ten(int exponent) {
  const std::string text = "1e" + std::to_string(exponent);
  double power = 0;
  std::from_chars(text.data(), text.data() + text.size(), power);
  return power;
}

// The score as HuggingFace reads it from a tokenizer.json: its digits as one integer, then times or by a power of ten.
// That rounds twice and may miss the nearest double, which decides between two ways to cut a word that are equally
// good apart from rounding.
double as_huggingface_reads(double score) {
  if (score == 0 || !std::isfinite(score)) return score;
  constexpr int kMaxExponent = 308;
  char text[32];
  const char* end = std::to_chars(std::begin(text), std::end(text), std::abs(score), std::chars_format::scientific).ptr;
  const char* mark = std::find(static_cast<const char*>(text), end, 'e');
  std::uint64_t digits = 0;
  int exponent = 0, fraction = 0;
  for (const char* at = text; at < mark; ++at) {
    if (*at != '.') digits = digits * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  if (mark - text > 1) fraction = static_cast<int>(mark - text) - 2;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, exponent);
  exponent -= fraction;
  auto value = static_cast<double>(digits);
  for (; exponent < -kMaxExponent; exponent += kMaxExponent) value /= power_of_ten(kMaxExponent);
  value = exponent >= 0 ? value * power_of_ten(exponent) : value / power_of_ten(-exponent);
  return std::copysign(value, score);
}

}  // namespace

Unigram::Unigram(std::vector<ScoredToken> tokens, std::optional<std::int32_t> unk_id, bool byte_fallback,
                 const std::string& file)
    : tokens_(std::move(tokens)), unknown_(unk_id), byte_fallback_(byte_fallback) {
  HEED_CHECK_AS(bad_format, !unk_id || (*unk_id >= 0 && static_cast<std::size_t>(*unk_id) < tokens_.size()), file,
                ": unk_id is ", *unk_id, ", expected 0 to ", static_cast<std::int64_t>(tokens_.size()) - 1);
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    vocabulary_.add(tokens_[i].token, id, file);
    keys.emplace_back(tokens_[i].token, id);
    scores_.push_back(as_huggingface_reads(tokens_[i].score));
    least = std::min(least, scores_.back());
  }
  trie_ = Trie(std::move(keys));
  unknown_score_ = least - kUnknownPenalty;
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
    bytes_[byte] = vocabulary_.find(byte_token(byte)).value_or(kNone);
  }
}

std::string_view Unigram::token_of(std::int32_t id) const {
  HEED_CHECK(id >= 0 && id < size(), "[token_of] id ", id, " is out of range, expected 0 to ", size() - 1);
  return tokens_[static_cast<std::size_t>(id)].token;
}

// Viterbi, forward over the characters. Of equal scores the first found stays: that of the longest last token.
void Unigram::find_best(std::string_view word, std::vector<Best>& best) const {
  best.assign(word.size() + 1, {0, kNone, 0});
  best[0].id = 0;
  for (std::size_t begin = 0; begin < word.size();) {
    const double so_far = best[begin].score;
    const std::size_t character = static_cast<unsigned char>(word[begin]) < 0x80 ? 1 : utf8_decode(word, begin).length;
    bool covered = false;  // by a token of just this character
    const auto offer = [&](std::size_t end, double score, std::int32_t id) {
      Best& here = best[end];
      if (here.id == kNone || so_far + score > here.score) {
        HEED_CHECK(id != kMissing, "[Unigram] \"", word.substr(begin, character),
                   "\" has no token and there is no unk_id");
        here = {so_far + score, id, static_cast<std::uint32_t>(begin)};
      }
    };
    trie_.for_each_at(word, begin, [&](std::size_t end, std::int32_t id) {
      offer(end, scores_[static_cast<std::size_t>(id)], id);
      covered |= end - begin == character;
    });
    if (!covered) offer(begin + character, unknown_score_, unknown_.value_or(kMissing));
    begin += character;
  }
}

void Unigram::add_piece(std::string_view word, std::uint32_t begin, std::uint32_t end,
                        std::vector<Piece>& pieces) const {
  const std::string_view text = word.substr(begin, end - begin);
  if (const std::optional<std::int32_t> id = vocabulary_.find(text)) {
    pieces.push_back({*id, begin, end});
    return;
  }
  const auto id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (byte_fallback_ && std::ranges::none_of(text, [&](char byte) { return id(byte) == kNone; })) {
    for (const char byte : text) pieces.push_back({id(byte), begin, end});
  } else {
    pieces.push_back({*unknown_, begin, end});
  }
}

void Unigram::tokenize(std::string_view word, std::vector<Piece>& pieces) const {
  if (word.empty() || cache_.get(word, pieces)) return;
  thread_local std::vector<Best> best;
  thread_local std::vector<Piece> spans;  // last first
  find_best(word, best);
  spans.clear();
  for (auto end = static_cast<std::uint32_t>(word.size()); end > 0;) {
    const Best& last = best[end];
    const bool unknown = unknown_ && last.id == *unknown_;
    if (unknown && !spans.empty() && spans.back().id == *unknown_) {
      spans.back().begin = last.begin;
    } else {
      spans.push_back({last.id, last.begin, end});
    }
    end = last.begin;
  }
  const std::size_t first = pieces.size();
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (unknown_ && span->id == *unknown_) {
      add_piece(word, span->begin, span->end, pieces);
    } else {
      pieces.push_back(*span);
    }
  }
  cache_.put(word, pieces, first);
}

Json Unigram::to_json() const {
  Json vocab = Json::array();
  for (const ScoredToken& token : tokens_) vocab.push_back(Json::array({token.token, token.score}));
  return {{"type", "Unigram"},
          {"unk_id", unknown_ ? Json(*unknown_) : Json()},
          {"vocab", std::move(vocab)},
          {"byte_fallback", byte_fallback_}};
}

}  // namespace heed::text

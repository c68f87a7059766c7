#include "heed/metrics/bleu_tokenizers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/metrics/mteval.h"
#include "heed/metrics/words.h"
#include "heed/text/letter_case.h"
#include "heed/text/load_tokenizer.h"

namespace heed {
namespace {

std::string between_spaces(std::string_view text) {
  return join(split_words(text), " ");
}

// mteval-v13a, which WMT uses.
std::string tokenize_13a(std::string_view text) {
  std::string line = replace_all(text, "<skipped>", "");
  if (line.find('\n') != std::string::npos) line = replace_all(replace_all(line, "-\n", ""), "\n", " ");
  return between_spaces(space_periods(space_symbols(" " + without_entities(line) + " ")));
}

// As sacrebleu has them. Its blocks beyond the basic plane are written with too few digits, by which they mean
// U+2001-U+2A6D and U+2F81-U+2FA1; scores count that.
bool stands_alone_in_chinese(char32_t point) {
  constexpr std::pair<char32_t, char32_t> kBlocks[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F}, {0x3100, 0x312F},
      {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
      {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  if (point < kBlocks[0].first) return false;
  return std::ranges::any_of(kBlocks, [&](const auto& block) { return point >= block.first && point <= block.second; });
}

std::string tokenize_zh(std::string_view text) {
  std::string spaced;
  for (const CodePoint& point : Utf8View(strip(text))) {
    const bool alone = stands_alone_in_chinese(point.value);
    if (alone) spaced += ' ';
    utf8_append(spaced, point.value);
    if (alone) spaced += ' ';
  }
  return between_spaces(space_periods(space_symbols(spaced)));
}

using CodePoints = std::vector<char32_t>;

// Two characters that `fit` get spaces around the one at `place`, from left to right; they do not overlap.
template <class Fit>
CodePoints space_one_of_two(const CodePoints& text, const Fit& fit, int place) {
  CodePoints out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fit(text[i], text[i + 1])) {
      out.push_back(text[i]);
      continue;
    }
    if (place == 0) out.push_back(U' ');
    out.push_back(text[i]);
    out.push_back(U' ');
    out.push_back(text[i + 1]);
    if (place == 1) out.push_back(U' ');
    ++i;
  }
  return out;
}

// mteval-v14's international one: punctuation stands alone unless numbers are on both sides, symbols always do.
std::string tokenize_intl(std::string_view text) {
  CodePoints line;
  for (const CodePoint& point : Utf8View(text)) line.push_back(point.value);
  using text::is_number;
  using text::is_punctuation;
  line = space_one_of_two(
      line, [](char32_t a, char32_t b) { return is_punctuation(b) && !is_number(a); }, 1);
  line = space_one_of_two(
      line, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); }, 0);
  std::string spaced;
  for (const char32_t point : line) {
    const bool alone = text::is_symbol(point);
    if (alone) spaced += ' ';
    utf8_append(spaced, point);
    if (alone) spaced += ' ';
  }
  return between_spaces(spaced);
}

std::string tokenize_char(std::string_view text) {
  std::string spaced;
  for (const CodePoint& point : Utf8View(text)) {
    if (!spaced.empty()) spaced += ' ';
    utf8_append(spaced, point.value);
  }
  return spaced;
}

BleuTokenizer sentencepiece_tokenizer(const std::string& model) {
  const auto tokenizer = std::make_shared<const text::Tokenizer>(text::load_sentencepiece(model));
  return [tokenizer](std::string_view text) {
    const auto encoding =
        tokenizer->encode(strip(text), {.add_special = false, .invalid = text::InvalidText::kReplace});
    return join(tokenizer->tokens(encoding), " ");
  };
}

}  // namespace

BleuTokenizer bleu_tokenizer(const std::string& name, const std::string& sentencepiece_model) {
  const bool flores = name == "flores101" || name == "flores200";
  HEED_CHECK(flores || sentencepiece_model.empty(), "[bleu] a SentencePiece model is given, and the tokenizer ", name,
             " has no use for it");
  if (name == "13a") return tokenize_13a;
  if (name == "intl") return tokenize_intl;
  if (name == "zh") return tokenize_zh;
  if (name == "char") return tokenize_char;
  if (name == "none") return [](std::string_view text) { return std::string(text); };
  HEED_CHECK(flores, "[bleu] the tokenizer is \"", name,
             "\", expected 13a, intl, zh, char, none, flores101 or flores200");
  HEED_CHECK(!sentencepiece_model.empty(), "[bleu] the tokenizer ", name,
             " cuts by a SentencePiece model: name its .model file");
  return sentencepiece_tokenizer(sentencepiece_model);
}

}  // namespace heed

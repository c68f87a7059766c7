#include "heed/explain/words.h"

#include <cctype>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

// Whether token t goes on with the word of the one before it.
bool continues(const text::Encoding& encoding, std::size_t t) {
  return t > 0 && encoding.word_ids[t] >= 0 && encoding.word_ids[t] == encoding.word_ids[t - 1] &&
         encoding.sequence_ids[t] == encoding.sequence_ids[t - 1];
}

std::string text_between(const std::string& text, std::size_t begin, std::size_t end) {
  return begin < end && end <= text.size() ? text.substr(begin, end - begin) : "";
}

}  // namespace

ReadText read_text(const LoadedModel& model, const TextInput& input, std::size_t max_tokens) {
  const text::EncodeOptions cut{.truncation =
                                    text::Truncation{.max_length = max_tokens > 0 ? max_tokens : model.max_tokens()}};
  const text::Tokenizer& tokenizer = model.tokenizer();
  ReadText read{.encoding =
                    input.pair ? tokenizer.encode(input.text, *input.pair, cut) : tokenizer.encode(input.text, cut)};
  const text::Encoding& e = read.encoding;
  read.cut = !e.overflowing.empty();
  read.tokens = model.tokenizer().tokens(e);
  for (std::size_t t = 0; t < e.size(); ++t) {
    if (continues(e, t)) {
      ++read.words.back().count;
    } else {
      read.words.push_back({.first = t, .special = e.special_mask[t] != 0});
    }
  }
  for (TextWord& word : read.words) {
    const std::string& source = e.sequence_ids[word.first] == 1 && input.pair ? *input.pair : input.text;
    const std::size_t last = word.first + word.count - 1;
    if (!word.special) word.text = text_between(source, e.byte_offsets[word.first].begin, e.byte_offsets[last].end);
    if (word.text.empty()) word.text = read.tokens[word.first];
  }
  return read;
}

ReadText read_tokens(const LoadedModel& model, std::span<const std::int32_t> ids) {
  const text::Tokenizer& tokenizer = model.tokenizer();
  ReadText read;
  for (const std::int32_t id : ids) {
    const bool special = tokenizer.is_special(id);
    read.encoding.append_special(id, 0);
    read.encoding.special_mask.back() = special ? 1 : 0;
    const std::string shown = token_text(tokenizer, id);
    const bool goes_on = !read.words.empty() && !special && !read.words.back().special && !shown.empty() &&
                         std::isalnum(static_cast<unsigned char>(shown.front()));
    if (goes_on) {
      ++read.words.back().count;
      read.words.back().text += shown;
    } else {
      read.words.push_back({.first = read.tokens.size(), .text = shown, .special = special});
    }
    read.tokens.push_back(shown);
  }
  return read;
}

std::string token_text(const text::Tokenizer& tokenizer, std::int32_t id) {
  const std::string bytes = tokenizer.bytes_of(id);
  if (!bytes.empty() && !utf8_find_invalid(bytes)) return bytes;
  const auto token = tokenizer.id_to_token(id);  // half a character, or nothing that is written
  return token ? std::string(*token) : "";
}

std::vector<double> sums_of_words(std::span<const double> tokens, std::span<const TextWord> words) {
  std::vector<double> sums;
  sums.reserve(words.size());
  for (const TextWord& word : words) {
    HEED_CHECK(word.first + word.count <= tokens.size(), "[sums_of_words] word of tokens ", word.first, " to ",
               word.first + word.count, ", there are ", tokens.size());
    double sum = 0;
    for (const double value : tokens.subspan(word.first, word.count)) sum += value;
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace heed

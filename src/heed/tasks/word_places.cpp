#include "heed/tasks/word_places.h"

#include "heed/base/error.h"

namespace heed {

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::vector<text::Span> word_places(const Row& row, const std::string& text) {
  std::vector<text::Span> places;
  std::size_t from = 0;
  for (const std::string& word : row.words) {
    const std::size_t at = text.find(word, from);
    HEED_CHECK_AS(bad_format, at != std::string::npos, row.file, ":", row.line, ": the word \"", word,
                  "\" is not in the text \"", text, "\" where it should be");
    from = at + word.size();
    places.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(from)});
  }
  return places;
}

std::vector<std::optional<std::size_t>> word_of_tokens(const text::Encoding& encoding,
                                                       const std::vector<text::Span>& places) {
  std::vector<std::optional<std::size_t>> words(encoding.size());
  std::size_t word = 0;
  for (std::size_t t = 0; t < encoding.size(); ++t) {
    if (encoding.special_mask[t]) continue;
    const text::Span token = encoding.byte_offsets[t];
    while (word < places.size() && places[word].end <= token.begin) ++word;
    if (word < places.size() && token.end > places[word].begin) words[t] = word;
  }
  return words;
}

std::vector<std::optional<std::size_t>> first_token_of_words(const text::Encoding& encoding,
                                                             const std::vector<text::Span>& places) {
  const auto words = word_of_tokens(encoding, places);
  std::vector<std::optional<std::size_t>> first(places.size());
  for (std::size_t t = words.size(); t-- > 0;) {
    if (words[t]) first[*words[t]] = t;
  }
  return first;
}

}  // namespace heed

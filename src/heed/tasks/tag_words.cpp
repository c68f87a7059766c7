#include "heed/tasks/tag_words.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

JoinedWords join_words(const std::vector<std::string>& words) {
  JoinedWords joined;
  for (const std::string& word : words) {
    if (!joined.text.empty()) joined.text += ' ';
    const std::size_t begin = joined.text.size();
    joined.text += word;
    joined.places.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(joined.text.size())});
  }
  return joined;
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

const std::string& label_of_nothing(const std::vector<std::string>& labels) {
  const auto outside = std::ranges::find(labels, "O");
  return outside != labels.end() ? *outside : labels.at(0);
}

std::vector<std::vector<std::string>> tag_words(const TextModel& model,
                                                const std::vector<std::vector<std::string>>& sentences) {
  model.require(Head::token_classification, "tag_words");
  std::vector<JoinedWords> joined;
  std::vector<TextInput> inputs;
  for (const auto& words : sentences) {
    joined.push_back(join_words(words));
    inputs.emplace_back(joined.back().text);
  }
  std::vector<std::size_t> owner;
  const std::size_t length = model.max_tokens();
  const auto windows = all_windows(model.encode(inputs, {.max_length = length, .stride = length / 4}), owner);

  const std::vector<std::string>& labels = model.labels();
  std::vector<std::vector<std::optional<std::size_t>>> found(windows.size());
  model.for_each_batch(windows, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    const Tensor logits = model.encoder().forward(input, Context()).logits.contiguous();
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const std::size_t i = chosen[b];
      const float* rows = logits.data<float>() + input.ids.offsets.begin(static_cast<std::int64_t>(b)) * logits.size(1);
      for (const auto token : first_token_of_words(windows[i], joined[owner[i]].places)) {
        const float* row = token ? rows + *token * labels.size() : nullptr;
        found[i].push_back(
            row ? std::optional(static_cast<std::size_t>(std::max_element(row, row + labels.size()) - row))
                : std::nullopt);
      }
    }
  });

  std::vector<std::vector<std::string>> tags;
  // Earlier windows come last and win: they have the beginning of a word whose rest is in the next.
  for (const auto& words : sentences) tags.emplace_back(words.size(), label_of_nothing(labels));
  for (std::size_t i = windows.size(); i-- > 0;) {
    for (std::size_t word = 0; word < found[i].size(); ++word) {
      if (found[i][word]) tags[owner[i]][word] = labels[*found[i][word]];
    }
  }
  return tags;
}

}  // namespace heed

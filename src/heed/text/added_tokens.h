// Tokens that were added to a model's vocabulary: they are found in the text before any other stage sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/text/model.h"
#include "heed/text/normalizer.h"
#include "heed/text/pre_tokenized.h"
#include "heed/text/trie.h"

namespace heed::text {

struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool single_word = false;  // never next to a word character
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;       // and on its right
  bool normalized = true;    // looked for, normalised, in the normalised text
  bool special = false;      // left out by decode(skip_special)
  std::string text = {};     // what the id stands for: the content, normalised if it is looked for so
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // The "added_tokens" list of tokenizer.json. A token that the model has must have its id there, others follow the
  // vocabulary in order; a list that says otherwise is refused. Errors start with `context`.
  AddedTokens(const Json& list, const Model& model, const Normalizer* normalizer, const std::string& context);

  // The text cut around the added tokens and normalised between them. The text must outlive the result.
  PreTokenized extract(std::string_view text, const Normalizer* normalizer) const;

  std::optional<std::int32_t> id_of(std::string_view content) const;
  // Null when the id is no added token's.
  const AddedToken* find(std::int32_t id) const;
  bool is_special(std::string_view content) const { return specials_.contains(std::string(content)); }
  const std::vector<AddedToken>& tokens() const { return tokens_; }  // by ascending id
  Json to_json() const;

 private:
  // Finds the leftmost, and of those the longest, of some tokens.
  class Matcher {
   public:
    // Texts to look for; of equal ones the first counts.
    void build(const std::vector<std::pair<std::string, std::int32_t>>& texts);
    bool empty() const { return empty_; }
    struct Match {
      std::size_t begin, end;
      std::int32_t id;
    };
    std::optional<Match> next(std::string_view text, std::size_t from) const;

   private:
    bool empty_ = true;
    bool starts_[256] = {};  // first bytes of the texts
    Trie trie_;
  };

  void build_matchers(const Normalizer* normalizer);
  // Calls part(begin, end, id or kNoToken) for the pieces of the text in order.
  template <class Part>
  void cut(std::string_view text, const Matcher& matcher, const Part& part) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  std::unordered_set<std::string> specials_;
  Matcher raw_, normalized_;
};

}  // namespace heed::text

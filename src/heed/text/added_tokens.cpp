#include "heed/text/added_tokens.h"

#include <algorithm>

#include "heed/text/fields.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

// The code point before, or at, a place that is neither the start nor the end of the text.
char32_t point_before(std::string_view text, std::size_t at) {
  do --at;
  while (is_continuation(text[at]));
  const char* from = text.data() + at;
  return next_point(from);
}

char32_t point_at(std::string_view text, std::size_t at) {
  const char* from = text.data() + at;
  return next_point(from);
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const PropertyTable table;
  return (begin == 0 || !table.has(point_before(text, begin), kIsWord)) &&
         (end == text.size() || !table.has(point_at(text, end), kIsWord));
}

std::size_t strip_left(std::string_view text, std::size_t begin, std::size_t from) {
  const PropertyTable table;
  while (begin > from) {
    const char32_t point = point_before(text, begin);
    if (!table.has(point, kIsWhitespace)) break;
    begin -= encoded_length(point);
  }
  return begin;
}

std::size_t strip_right(std::string_view text, std::size_t end) {
  const PropertyTable table;
  while (end < text.size()) {
    const char32_t point = point_at(text, end);
    if (!table.has(point, kIsWhitespace)) break;
    end += encoded_length(point);
  }
  return end;
}

AddedToken read_token(const Json& json, const std::string& context) {
  Fields fields(json, context);
  AddedToken token;
  token.id = fields.required<std::int32_t>("id");
  token.content = fields.required<std::string>("content");
  token.single_word = fields.optional("single_word", false);
  token.lstrip = fields.optional("lstrip", false);
  token.rstrip = fields.optional("rstrip", false);
  token.special = fields.optional("special", false);
  token.normalized = fields.optional("normalized", !token.special);
  fields.done();
  return token;
}

}  // namespace

void AddedTokens::Matcher::build(const std::vector<std::pair<std::string, std::int32_t>>& texts) {
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    if (text->first.empty()) continue;
    keys.emplace_back(text->first, text->second);
    starts_[static_cast<unsigned char>(text->first[0])] = true;
  }
  empty_ = keys.empty();
  if (!empty_) trie_ = Trie(std::move(keys));
}

std::optional<AddedTokens::Matcher::Match> AddedTokens::Matcher::next(std::string_view text, std::size_t from) const {
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<unsigned char>(text[begin])]) continue;
    std::optional<Match> longest;
    trie_.for_each_at(text, begin, [&](std::size_t end, std::int32_t token) { longest = Match{begin, end, token}; });
    if (longest) return longest;
  }
  return std::nullopt;
}

AddedTokens::AddedTokens(const Json& list, const Model& model, const Normalizer* normalizer,
                         const std::string& context) {
  HEED_CHECK_AS(bad_format, list.is_array(), context, " is ", heed::detail::json_kind(list), ", expected a list");
  std::int32_t next = -1;
  for (const Json& json : list) {
    AddedToken token = read_token(json, context);
    if (token.content.empty()) continue;
    HEED_CHECK_AS(bad_format, !ids_.contains(token.content), context, ": the token \"", token.content,
                  "\" is there twice");
    std::optional<std::int32_t> expected = model.id_of(token.content);
    if (!expected) {
      if (next < 0) next = model.count();
      expected = next++;
    }
    HEED_CHECK_AS(bad_format, token.id == *expected, context, ": the token \"", token.content, "\" has the id ",
                  token.id, ", expected ", *expected, " (its own in the vocabulary, or the next after it)");
    ids_[token.content] = token.id;
    if (token.special) specials_.insert(token.content);
    tokens_.push_back(std::move(token));
  }
  build_matchers(normalizer);
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (std::size_t i = 0; i < tokens_.size(); ++i) by_id_[tokens_[i].id] = i;
}

void AddedTokens::build_matchers(const Normalizer* normalizer) {
  std::vector<std::pair<std::string, std::int32_t>> raw, normalized;
  for (const bool special : {true, false}) {
    for (AddedToken& token : tokens_) {
      if (token.special != special) continue;
      NormalizedString content(token.content);
      if (token.normalized && normalizer) normalizer->apply(content);
      token.text = content.text();
      (token.normalized ? normalized : raw).emplace_back(token.text, token.id);
    }
  }
  raw_.build(raw);
  normalized_.build(normalized);
}

template <class Part>
void AddedTokens::cut(std::string_view text, const Matcher& matcher, const Part& part) const {
  std::size_t covered = 0;
  if (!matcher.empty()) {
    // The search goes on after the token itself, so one that starts with spaces may overlap those that were stripped.
    for (std::size_t from = 0;;) {
      const auto match = matcher.next(text, from);
      if (!match) break;
      from = match->end;
      const AddedToken& token = *find(match->id);
      std::size_t begin = match->begin, end = match->end;
      if (token.single_word && !stands_alone(text, begin, end)) continue;
      if (token.lstrip) begin = strip_left(text, begin, covered);
      if (token.rstrip) end = strip_right(text, end);
      if (covered < begin) part(covered, begin, kNoToken);
      part(begin, end, match->id);
      covered = end;
    }
  }
  if (covered < text.size()) part(covered, text.size(), kNoToken);
}

PreTokenized AddedTokens::extract(std::string_view text, const Normalizer* normalizer) const {
  PreTokenized result;
  const auto add = [&](NormalizedString&& string, auto&& mark_parts) {
    const auto base = static_cast<std::uint32_t>(result.string.size());
    if (result.parts.empty()) {
      result.string = std::move(string);
    } else {
      result.string.append(string);
    }
    mark_parts(base);
  };
  const auto mark = [&](std::uint32_t base, std::size_t begin, std::size_t end, std::int32_t token) {
    if (begin == end) return;
    result.parts.push_back({{base + static_cast<std::uint32_t>(begin), base + static_cast<std::uint32_t>(end)}, token});
  };
  cut(text, raw_, [&](std::size_t begin, std::size_t end, std::int32_t token) {
    NormalizedString string(text, begin, end);
    if (token != kNoToken) {
      add(std::move(string), [&](std::uint32_t base) { mark(base, 0, end - begin, token); });
      return;
    }
    if (normalizer) normalizer->apply(string);
    if (string.empty()) return;
    add(std::move(string), [&](std::uint32_t base) {
      const std::string_view all = result.string.text().substr(base);
      cut(all, normalized_, [&](std::size_t from, std::size_t to, std::int32_t found) { mark(base, from, to, found); });
    });
  });
  return result;
}

std::optional<std::int32_t> AddedTokens::id_of(std::string_view content) const {
  const auto found = ids_.find(std::string(content));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const AddedToken* AddedTokens::find(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

Json AddedTokens::to_json() const {
  Json list = Json::array();
  for (const AddedToken& token : tokens_) {
    list.push_back({{"id", token.id},
                    {"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.lstrip},
                    {"rstrip", token.rstrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list;
}

}  // namespace heed::text

#include "heed/text/protected_parts.h"

#include <algorithm>
#include <optional>
#include <string>

#include "heed/text/scripts.h"
#include "heed/text/sentence_blocks.h"
#include "heed/text/sentences.h"

namespace heed::text {
namespace {

using Kind = ProtectedPart::Kind;
constexpr std::size_t kLongestPlaceholder = 64, kLongestUrl = 4096, kLongestLocal = 65;  // bytes

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_in(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Bytes from `at` on that are words or in `more`.
std::size_t span_of(std::string_view text, std::size_t at, std::string_view more) {
  std::size_t end = at;
  while (end < text.size() && (is_word(text[end]) || is_in(text[end], more))) ++end;
  return end - at;
}

// The length of {…} or {{…}} at the beginning, 0 if there is none.
std::size_t braces(std::string_view text) {
  const std::size_t depth = text.starts_with("{{") ? 2 : text.starts_with('{') ? 1 : 0;
  if (depth == 0) return 0;
  const std::size_t inside = span_of(text.substr(0, kLongestPlaceholder), depth, " .,:#-!/|[]()$@'\"+*=<>");
  const std::string_view close = depth == 2 ? "}}" : "}";
  return text.substr(depth + inside).starts_with(close) ? 2 * depth + inside : 0;
}

// The length of a conversion of printf at the beginning: %s, %1$d, %(name)s, %.2f.
std::size_t conversion(std::string_view text) {
  text = text.substr(0, kLongestPlaceholder);
  std::size_t at = 1;
  if (text.substr(at).starts_with('(')) {
    at += 1 + span_of(text, at + 1, ".- ");
    if (!text.substr(at).starts_with(')')) return 0;
    ++at;
  }
  const auto skip_digits = [&] {
    while (at < text.size() && is_digit(text[at])) ++at;
  };
  skip_digits();
  if (at > 1 && text.substr(at).starts_with('$')) ++at;
  while (at < text.size() && is_in(text[at], "-+#0")) ++at;
  skip_digits();
  if (text.substr(at).starts_with('.')) ++at;
  skip_digits();
  while (at < text.size() && is_in(text[at], "hlqjzt")) ++at;
  if (at >= text.size() || !is_in(text[at], "diouxXeEfFgGcsp@")) return 0;
  return at + 1 < text.size() && is_word(text[at + 1]) ? 0 : at + 1;
}

std::size_t entity(std::string_view text) {
  const std::size_t name = span_of(text.substr(0, kLongestPlaceholder), 1, "#");
  return name > 0 && text.substr(name + 1).starts_with(';') ? name + 2 : 0;
}

std::size_t placeholder(std::string_view text, bool after_digit) {
  switch (text[0]) {
    case '{': return braces(text);
    case '$': {
      const std::size_t length = braces(text.substr(1));
      return length > 0 ? length + 1 : 0;
    }
    case '%': return after_digit ? 0 : conversion(text);
    case '&': return entity(text);
    default: return 0;
  }
}

bool begins_with(std::string_view text, std::string_view small) {
  return text.size() >= small.size() && std::ranges::equal(text.substr(0, small.size()), small, {},
                                                           [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
}

std::size_t url(std::string_view text) {
  constexpr std::string_view kBeginnings[] = {"http://", "https://", "ftp://", "ftps://", "file://", "mailto:", "www."};
  const auto* begins =
      std::ranges::find_if(kBeginnings, [&](std::string_view small) { return begins_with(text, small); });
  if (begins == std::end(kBeginnings)) return 0;
  std::size_t end = begins->size();
  while (end < std::min(text.size(), kLongestUrl)) {
    const CodePoint point = utf8_decode(text, end);
    if (point.value <= ' ' || is_in(static_cast<char>(std::min<char32_t>(point.value, 0x7F)), "<>\"`{}|\\^\x7F")) break;
    end += point.length;
  }
  // What ends the sentence and not the address.
  while (end > begins->size() && is_in(text[end - 1], ".,;:!?'*")) --end;
  if (text[end - 1] == ')' && text.substr(0, end).find('(') == std::string_view::npos) --end;
  return end > begins->size() ? end : 0;
}

// `run`: the length of what may be its local part.
std::size_t email(std::string_view text, std::size_t run) {
  if (run == 0 || !text.substr(run).starts_with('@')) return 0;
  std::size_t end = run + 1 + span_of(text, run + 1, ".-");
  while (end > run + 1 && is_in(text[end - 1], ".-_")) --end;
  const std::string_view domain = text.substr(run + 1, end - run - 1);
  return domain.find('.', 1) == std::string_view::npos ? 0 : end;
}

// Of what may separate the digits of a number: . , : / ' and narrow or fixed spaces.
std::size_t separator(std::string_view text) {
  for (const std::string_view each : {".", ",", ":", "/", "'", "’", "\u00A0", "\u202F", "\u2009"}) {
    if (text.starts_with(each)) return each.size();
  }
  return 0;
}

std::size_t number(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == 0) return 0;
  for (std::size_t gap = separator(text.substr(end)); gap > 0; gap = separator(text.substr(end))) {
    if (end + gap >= text.size() || !is_digit(text[end + gap])) break;
    end += gap;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return end;
}

// What must be found again: numbers by their digits, all else as it is.
std::string key_of(const ProtectedPart& part, std::string_view text) {
  std::string key(part.bytes.of(text));
  if (part.kind == Kind::number) std::erase_if(key, [](char c) { return !is_digit(c); });
  return key;
}

class Keeper {
 public:
  explicit Keeper(AlignedText words) : words_(std::move(words)), parts_(protected_parts(words_.source)) {
    words_.check();
    find();
  }

  AlignedText run() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!found_[i]) put(parts_[i]);
    }
    return std::move(words_);
  }

 private:
  // Which parts the target has; each of the target's counts once, first for the part that it is linked to.
  void find() {
    const auto there = protected_parts(words_.target);
    const auto links = words_.links();
    std::vector<std::string> keys;
    for (const ProtectedPart& part : there) keys.push_back(key_of(part, words_.target));
    std::vector<bool> used(there.size(), false);
    found_.assign(parts_.size(), false);
    for (const bool linked : {true, false}) {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::string key = key_of(parts_[i], words_.source);
        for (std::size_t j = 0; !found_[i] && j < there.size(); ++j) {
          if (used[j] || parts_[i].kind != there[j].kind || key != keys[j]) continue;
          if (linked && !is_linked(links, parts_[i].bytes, there[j].bytes)) continue;
          found_[i] = used[j] = true;
        }
      }
    }
    kept_.assign(words_.target_words.size(), false);
    for (std::size_t j = 0; j < there.size(); ++j) {
      if (used[j]) keep(words_in(words_.target_words, there[j].bytes));
    }
  }

  bool is_linked(const std::vector<std::vector<std::size_t>>& links, ByteRange source, ByteRange target) const {
    const ByteRange from = words_in(words_.source_words, source), to = words_in(words_.target_words, target);
    for (std::size_t word = from.begin; word < from.end; ++word) {
      for (const std::size_t other : links[word]) {
        if (other >= to.begin && other < to.end) return true;
      }
    }
    return false;
  }

  void keep(ByteRange target) {
    for (std::size_t word = target.begin; word < target.end; ++word) kept_[word] = true;
  }

  // The first run of target words that are linked to these source words and to no others.
  std::optional<ByteRange> own_words(ByteRange source) const {
    std::vector<int> own(words_.target_words.size(), 0);  // -1: of others too
    for (const WordPair& pair : words_.alignment) {
      const bool is_own = pair.source >= source.begin && pair.source < source.end;
      own[pair.target] = !is_own || kept_[pair.target] ? -1 : own[pair.target] == 0 ? 1 : own[pair.target];
    }
    const auto first = static_cast<std::size_t>(std::ranges::find(own, 1) - own.begin());
    if (first == own.size()) return {};
    std::size_t last = first;
    while (last < own.size() && own[last] == 1) ++last;
    return ByteRange{first, last};
  }

  // The number of the target word before which a part belongs that has none.
  std::size_t place_of(ByteRange source) const {
    const auto links = words_.completed_links();
    for (std::size_t distance = 1; distance <= links.size(); ++distance) {
      if (source.begin >= distance && !links[source.begin - distance].empty())
        return links[source.begin - distance].back() + 1;
      const std::size_t after = source.end + distance - 1;
      if (after < links.size() && !links[after].empty()) return links[after].front();
    }
    return words_.target_words.size();
  }

  void put(const ProtectedPart& part) {
    const ByteRange source = words_in(words_.source_words, part.bytes);
    const std::string form(part.bytes.of(words_.source));
    ByteRange target;
    if (const auto own = own_words(source)) {
      target = *own;
    } else {
      target.begin = target.end = place_of(source);
    }
    replace(target, form);
    for (std::size_t word = source.begin; word < source.end; ++word) words_.alignment.push_back({word, target.begin});
  }

  // One word of that form in the place of these, which may be none.
  void replace(ByteRange old, const std::string& form) {
    auto& list = words_.target_words;
    const std::size_t count = old.end - old.begin;
    ByteRange bytes;
    bytes.begin = count > 0 ? list[old.begin].begin : old.begin > 0 ? list[old.begin - 1].end : 0;
    bytes.end = count > 0 ? list[old.end - 1].end : bytes.begin;
    std::string& text = words_.target;
    std::string before, after;
    if (count == 0) {
      before = space_between(std::string_view(text).substr(0, bytes.begin), form);
      const std::string_view rest = std::string_view(text).substr(bytes.end);
      const bool apart = rest.empty() || is_space(utf8_decode(rest, 0).value) || is_in(rest[0], ".,;:!?)");
      if (!apart) after = space_between(form, rest);
    }
    text.replace(bytes.begin, bytes.end - bytes.begin, before + form + after);
    const std::size_t begin = bytes.begin + before.size();
    const auto grown = static_cast<std::ptrdiff_t>(before.size() + form.size() + after.size()) -
                       static_cast<std::ptrdiff_t>(bytes.end - bytes.begin);
    for (std::size_t word = old.end; word < list.size(); ++word) {
      list[word].begin += static_cast<std::size_t>(grown);
      list[word].end += static_cast<std::size_t>(grown);
    }
    const auto at = static_cast<std::ptrdiff_t>(old.begin), end = static_cast<std::ptrdiff_t>(old.end);
    list.erase(list.begin() + at, list.begin() + end);
    list.insert(list.begin() + at, {begin, begin + form.size()});
    kept_.erase(kept_.begin() + at, kept_.begin() + end);
    kept_.insert(kept_.begin() + at, true);
    for (WordPair& pair : words_.alignment) {
      if (pair.target >= old.end) {
        pair.target = pair.target + 1 - count;
      } else if (pair.target > old.begin) {
        pair.target = old.begin;
      }
    }
  }

  AlignedText words_;
  std::vector<ProtectedPart> parts_;
  std::vector<bool> found_, kept_;  // per source part; per target word: holds a part that was found
};

}  // namespace

std::vector<ProtectedPart> protected_parts(std::string_view text) {
  std::vector<ProtectedPart> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool in_word = at > 0 && is_word(text[at - 1]);
    const auto add = [&](Kind kind, std::size_t length) {
      if (length > 0) parts.push_back({kind, {at, at + length}});
      at += length;
      return length > 0;
    };
    if (add(Kind::placeholder, placeholder(rest, at > 0 && is_digit(text[at - 1])))) continue;
    const std::size_t run = in_word ? 0 : span_of(rest.substr(0, kLongestLocal), 0, ".%+-");
    if (!in_word && (add(Kind::url, url(rest)) || add(Kind::email, email(rest, run)))) continue;
    if (!in_word && add(Kind::number, number(rest))) continue;
    // To the end of the word, of which no part can begin inside but after a sign.
    at += std::max<std::size_t>(span_of(rest, 0, ""), 1);
  }
  return parts;
}

AlignedText keep_protected(AlignedText words) {
  return Keeper(std::move(words)).run();
}

}  // namespace heed::text

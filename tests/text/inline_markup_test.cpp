#include "heed/text/inline_markup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "text/spaced_words.h"

namespace heed::text {
namespace {

using test::words_of;

AlignedText aligned(const std::string& source, const std::string& target, std::vector<WordPair> alignment) {
  return {source, target, words_of(source), words_of(target), std::move(alignment)};
}

std::string translated(const std::string& source, const std::string& target, std::vector<WordPair> alignment) {
  const StrippedText stripped = strip_markup(source);
  return restore_markup(stripped, aligned(stripped.text, target, std::move(alignment)));
}

std::string unchanged(const std::string& source) {
  const StrippedText stripped = strip_markup(source);
  AlignedText words = aligned(stripped.text, stripped.text, {});
  for (std::size_t i = 0; i < words.source_words.size(); ++i) words.alignment.push_back({i, i});
  return restore_markup(stripped, words);
}

TEST(InlineMarkup, Strip) {
  const StrippedText stripped =
      strip_markup("Press <b class=\"a > b\">Save <i>now</i></b>, <br/>R&amp;D &lt; 3 &#x41; &eacute;");
  EXPECT_EQ(stripped.text, "Press Save now, R&D < 3 A &eacute;");
  ASSERT_EQ(stripped.spans.size(), 3u);
  EXPECT_EQ(stripped.spans[0].open, "<b class=\"a > b\">");
  EXPECT_EQ(stripped.spans[0].close, "</b>");
  EXPECT_EQ(ByteRange({stripped.spans[0].begin, stripped.spans[0].end}).of(stripped.text), "Save now");
  EXPECT_EQ(ByteRange({stripped.spans[1].begin, stripped.spans[1].end}).of(stripped.text), "now");
  EXPECT_EQ(stripped.spans[1].parent, 0u);
  EXPECT_EQ(stripped.spans[2].open, "<br/>");
  EXPECT_FALSE(stripped.spans[2].is_pair());
}

TEST(InlineMarkup, WhatIsNoMarkupIsText) {
  for (const std::string text : {"a < b and c > d", "x<y", "<", "<>", "< b>", "</", "<b", "&", "&;", "&amp", "&#xD800;",
                                 "&#99999999;", "<!-- open", "<a \""}) {
    EXPECT_EQ(strip_markup(text).text, text);
    EXPECT_EQ(unchanged(text), text);
  }
}

TEST(InlineMarkup, UnchangedTextsComeBack) {
  for (const std::string text :
       {"Press <b>Save</b> now.", "<p>One <i>two <b>three</b></i> four</p>", "a <br/> b", "a<br>b <br/>c",
        "x <ph id=\"1\"/>y", "see<sup>1</sup> there", "note<ref n='1'/> here", "<td>a</td><td>b</td>",
        "R&amp;D &lt;tag&gt; <b>x</b>", "an <i>unclosed one", "a stray</b> one", "<b>cross <i>ing</b> tags</i>",
        "<!-- note -->text", "text <?php x ?>", "<img src=\"a.png\"/> text", "text <img src='b'/>",
        "<a></a> <b><i/></b> x", "R & D", "&nbsp;x"}) {
    EXPECT_EQ(unchanged(text), text);
  }
}

TEST(InlineMarkup, TagsFollowTheirWords) {
  EXPECT_EQ(translated("Press <b>Save</b> now", "Jetzt Speichern drücken", {{0, 2}, {1, 1}, {2, 0}}),
            "Jetzt <b>Speichern</b> drücken");
  EXPECT_EQ(translated("he <b>gave up</b> it", "er gab es auf", {{0, 0}, {1, 1}, {2, 3}, {3, 2}}),
            "er <b>gab es auf</b>");
  EXPECT_EQ(translated("<b>New York</b> city", "纽约 城市", {{0, 0}, {1, 0}, {2, 1}}), "<b>纽约</b> 城市");
  EXPECT_EQ(translated("<a>one</a> <b>two</b>", "zwei eins", {{0, 1}, {1, 0}}), "<b>zwei</b> <a>eins</a>");
  EXPECT_EQ(translated("the <b>small</b> house", "das kleine Haus", {{0, 0}, {2, 2}}), "das <b>kleine</b> Haus")
      << "words without a link between such that have one";
  EXPECT_EQ(translated("all <b>of</b> them", "alle", {{0, 0}, {2, 0}}), "alle<b></b>") << "nothing stands for it";
  EXPECT_EQ(translated("one <i>two</i>", "", {}), "<i></i>");
  EXPECT_EQ(translated("say &lt; <b>x</b>", "sage < y & z", {{2, 2}}), "sage &lt; <b>y</b> &amp; z");
  EXPECT_EQ(translated("one<fn n='1'/> two", "zwei eins", {{0, 1}, {1, 0}}), "zwei eins<fn n='1'/>");
  EXPECT_EQ(translated("one <ph/>two", "zwei eins", {{0, 1}, {1, 0}}), "<ph/>zwei eins");
  EXPECT_EQ(translated("one <br/> two", "eins zwei", {{0, 0}, {1, 1}}), "eins <br/> zwei");
}

// A sentence as a tree: words, pairs of tags around items, single tags that stick to the item after them.
struct Item {
  int word = -1;
  std::string open{}, close{};
  std::vector<Item> items{};
  bool merged = false;  // with the word before it, in the target
};

class Sentence {
 public:
  explicit Sentence(std::uint64_t seed) : random_{.seed = seed} {
    while (words_ < 4) items_.push_back(item(0));
    for (int i = static_cast<int>(random_.uniform_integer(6)); i > 0; --i) items_.push_back(item(0));
  }
  void swap() {
    for (std::size_t i = items_.size(); i-- > 1;) std::swap(items_[i], items_[random_.uniform_integer(i + 1)]);
  }
  void merge() { merge(items_); }
  std::string text(char letter, bool tags, bool target) const { return text(items_, letter, tags, target); }
  // Source word i belongs to the target word at links[i].
  std::vector<WordPair> alignment() const {
    std::vector<WordPair> pairs;
    std::size_t next = 0;
    align(items_, next, pairs);
    return pairs;
  }

 private:
  Item item(int depth) {
    const std::uint64_t kind = depth < 4 ? random_.uniform_integer(6) : 5;
    const std::string id = std::to_string(tags_);
    if (kind == 0) {
      ++tags_;
      Item single{.open = "<ph id=\"" + id + "\"/>"};
      single.items.push_back(item(depth));
      return single;
    }
    if (kind < 3) {
      ++tags_;
      const std::string name = kind == 1 ? "b" : "a";
      Item pair{.open = "<" + name + " href='" + id + "'>", .close = "</" + name + ">"};
      for (int i = static_cast<int>(random_.uniform_integer(3)); i >= 0; --i) pair.items.push_back(item(depth + 1));
      return pair;
    }
    return {.word = words_++};
  }
  void merge(std::vector<Item>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      merge(items[i].items);
      const bool two = i > 0 && items[i].word >= 0 && items[i - 1].word >= 0;
      items[i].merged = two && random_.uniform_integer(2) == 0;
    }
  }
  static std::string text(const std::vector<Item>& items, char letter, bool tags, bool target) {
    std::string all;
    for (const Item& item : items) {
      if (target && item.merged) continue;
      if (!all.empty()) all += ' ';
      if (item.word >= 0) {
        all += letter + std::to_string(item.word);
      } else {
        all += (tags ? item.open : "") + text(item.items, letter, tags, target) + (tags ? item.close : "");
      }
    }
    return all;
  }
  static void align(const std::vector<Item>& items, std::size_t& next, std::vector<WordPair>& pairs) {
    for (const Item& item : items) {
      if (item.word >= 0) {
        if (!item.merged) ++next;
        pairs.push_back({static_cast<std::size_t>(item.word), next - 1});
      }
      align(item.items, next, pairs);
    }
  }

  RandomStream random_;
  int words_ = 0, tags_ = 0;
  std::vector<Item> items_;
};

TEST(InlineMarkup, GeneratedSentences) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Sentence sentence(seed);
    const std::string source = sentence.text('s', true, false);
    const StrippedText stripped = strip_markup(source);
    ASSERT_EQ(stripped.text, sentence.text('s', false, false));
    if (seed % 4 == 1) sentence.swap();
    if (seed % 4 == 2) sentence.merge();
    const auto pairs = seed % 4 == 3 ? std::vector<WordPair>() : sentence.alignment();
    const AlignedText words = aligned(stripped.text, sentence.text('t', false, true), pairs);
    EXPECT_EQ(restore_markup(stripped, words), sentence.text('t', true, true)) << seed << ": " << source;
  }
}

// Whether tags close in the order in which they opened.
bool is_well_nested(const std::string& text, std::size_t& tags) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    ++tags;
    const std::string tag = text.substr(at, text.find('>', at) + 1 - at);
    if (tag[1] == '/') {
      if (open.empty() || open.back() != tag.substr(2, tag.size() - 3)) return false;
      open.pop_back();
    } else if (tag[tag.size() - 2] != '/') {
      open.push_back(tag.substr(1, tag.find_first_of(" >") - 1));
    }
  }
  return open.empty();
}

TEST(InlineMarkup, AnyAlignmentKeepsEveryTagAndNests) {
  RandomStream random{.seed = 5};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string source = Sentence(seed).text('s', true, false);
    const StrippedText stripped = strip_markup(source);
    std::string target;
    for (auto i = random.uniform_integer(12); i > 0; --i) target += (target.empty() ? "t" : " t") + std::to_string(i);
    AlignedText words = aligned(stripped.text, target, {});
    const std::size_t from = words.source_words.size(), to = words.target_words.size();
    for (auto i = to == 0 ? 0 : random.uniform_integer(2 * from); i > 0; --i) {
      words.alignment.push_back({random.uniform_integer(from), random.uniform_integer(to)});
    }
    const std::string restored = restore_markup(stripped, words);
    std::size_t before = 0, after = 0;
    ASSERT_TRUE(is_well_nested(source, before));
    ASSERT_TRUE(is_well_nested(restored, after)) << source << "\n" << restored;
    ASSERT_EQ(after, before);
    for (const MarkupSpan& span : stripped.spans) EXPECT_NE(restored.find(span.open), std::string::npos);
    EXPECT_EQ(strip_markup(restored).text, target);
  }
}

TEST(InlineMarkup, AnyBytes) {
  const std::vector<std::string> parts = {"<",  ">", "</",   "<b",   "b>",     "<b>",  "</b>", "/>",
                                          "\"", "'", "&",    "&lt;", ";",      "<!--", "-->",  "<br>",
                                          " ",  "a", "\xFF", "é",    "<i x='", "<p>",  "</p>"};
  RandomStream random{.seed = 9};
  for (int round = 0; round < 3000; ++round) {
    std::string source;
    for (auto i = random.uniform_integer(40); i > 0; --i) source += parts[random.uniform_integer(parts.size())];
    const StrippedText stripped = strip_markup(source);
    const std::string same = unchanged(source);
    for (const MarkupSpan& span : stripped.spans) {
      EXPECT_LE(span.begin, span.end);
      EXPECT_LE(span.end, stripped.text.size());
      EXPECT_NE(same.find(span.open), std::string::npos);
    }
  }
}

TEST(InlineMarkup, TimeIsLinear) {
  for (const std::string unit :
       {"<", "<b>", "<b x=\"", "<a '", "<!--", "<!", "<?", "<b><i></b>", "&", "<br> ", "</b>", "x<p>"}) {
    std::string source;
    while (source.size() < 300'000) source += unit;
    const auto start = std::chrono::steady_clock::now();
    const StrippedText stripped = strip_markup(source);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(seconds, 3) << unit;
  }
}

TEST(InlineMarkup, WrongWordsAreRefused) {
  const StrippedText stripped = strip_markup("a <b>b</b>");
  EXPECT_THROW(restore_markup(stripped, aligned("other", "x", {})), Error);
  EXPECT_THROW(restore_markup(stripped, aligned("a b", "x", {{0, 1}})), Error);
  EXPECT_THROW(restore_markup(stripped, {"a b", "x", {{0, 1}, {2, 4}}, {}, {}}), Error);
  EXPECT_THROW(restore_markup(stripped, {"a b", "x", {{2, 3}, {0, 1}}, {}, {}}), Error);
}

}  // namespace
}  // namespace heed::text

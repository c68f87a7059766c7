#include "heed/text/protected_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "heed/base/random.h"
#include "text/spaced_words.h"

namespace heed::text {
namespace {

using Kind = ProtectedPart::Kind;

std::vector<std::string> parts_of(const std::string& text, Kind kind) {
  std::vector<std::string> found;
  for (const ProtectedPart& part : protected_parts(text)) {
    if (part.kind == kind) found.emplace_back(part.bytes.of(text));
  }
  return found;
}
using Texts = std::vector<std::string>;

AlignedText aligned(const std::string& source, const std::string& target, std::vector<WordPair> alignment) {
  return {source, target, test::words_of(source), test::words_of(target), std::move(alignment)};
}

std::string kept(const std::string& source, const std::string& target, std::vector<WordPair> alignment) {
  const AlignedText result = keep_protected(aligned(source, target, std::move(alignment)));
  result.check();
  return result.target;
}

TEST(ProtectedParts, Placeholders) {
  EXPECT_EQ(parts_of("Hi {name}, {{user.first}} has ${count} of %d and %1$s, %(what)s %.2f%% {0} {} &eacute;!",
                     Kind::placeholder),
            (Texts{"{name}", "{{user.first}}", "${count}", "%d", "%1$s", "%(what)s", "%.2f", "{0}", "{}", "&eacute;"}));
  EXPECT_EQ(parts_of("50% discount, 100%, 5%d, {open, $5, AT&T x", Kind::placeholder), Texts());
}

TEST(ProtectedParts, Addresses) {
  EXPECT_EQ(parts_of("See https://a.example/x?y=1&z=(2), www.b.example. (http://c.example/d) or HTTP://E", Kind::url),
            (Texts{"https://a.example/x?y=1&z=(2)", "www.b.example", "http://c.example/d", "HTTP://E"}));
  EXPECT_EQ(parts_of("Mail a.b+c@d-e.example.org, or x@y.", Kind::email), (Texts{"a.b+c@d-e.example.org"}));
  EXPECT_EQ(parts_of("http:// www. @a.b", Kind::url), Texts());
}

TEST(ProtectedParts, Numbers) {
  EXPECT_EQ(parts_of("1,234.5 kg at 10:30, 3%, €20 and 5km; 1 234, 12. B2B 2024-05-01", Kind::number),
            (Texts{"1,234.5", "10:30", "3", "20", "5", "1", "234", "12", "2024", "05", "01"}));
}

TEST(ProtectedParts, WhatIsThereStays) {
  EXPECT_EQ(kept("It costs 1,234.5 euros", "Es kostet 1.234,5 Euro", {{2, 2}}), "Es kostet 1.234,5 Euro");
  EXPECT_EQ(kept("Hi {name}", "Hallo {name}", {}), "Hallo {name}");
}

TEST(ProtectedParts, WhatIsLostComesBack) {
  EXPECT_EQ(kept("Hi {name} !", "Hallo {Name} !", {{0, 0}, {1, 1}, {2, 2}}), "Hallo {name} !");
  EXPECT_EQ(kept("go to http://a.example/b now", "gehe jetzt zu http : / / a",
                 {{0, 0}, {1, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 7}, {3, 1}}),
            "gehe jetzt zu http://a.example/b");
  EXPECT_EQ(kept("in 1999 we met", "wir trafen uns 1998", {{0, 3}, {1, 3}, {2, 0}, {3, 1}}), "wir trafen uns 1998 1999")
      << "a word that stands for others too stays";
  EXPECT_EQ(kept("room %d is free", "Zimmer ist frei", {{0, 0}, {2, 1}, {3, 2}}), "Zimmer %d ist frei");
  EXPECT_EQ(kept("5 and 5", "5 und", {{0, 0}, {1, 1}}), "5 und 5");
  EXPECT_EQ(kept("%s", "", {}), "%s");
}

TEST(ProtectedParts, TheResultIsSoundAndHasAll) {
  const Texts words = {"a", "bc", "{x}", "%s", "12", "1,5", "www.q.example", "m@n.example", "é", "{{y}}", "7"};
  RandomStream random{.seed = 2};
  const auto sentence = [&] {
    std::string text;
    for (auto i = random.uniform_integer(9); i > 0; --i) {
      text += (text.empty() ? "" : " ") + words[random.uniform_integer(words.size())];
    }
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    AlignedText given = aligned(sentence(), sentence(), {});
    const std::size_t from = given.source_words.size(), to = given.target_words.size();
    for (auto i = from * to == 0 ? 0 : random.uniform_integer(10); i > 0; --i) {
      given.alignment.push_back({random.uniform_integer(from), random.uniform_integer(to)});
    }
    const AlignedText result = keep_protected(given);
    result.check();
    for (const Kind kind : {Kind::placeholder, Kind::url, Kind::email}) {
      for (const std::string& part : parts_of(given.source, kind)) {
        const Texts before = parts_of(given.source, kind), after = parts_of(result.target, kind);
        EXPECT_GE(std::ranges::count(after, part), std::ranges::count(before, part))
            << given.source << " | " << given.target << " | " << result.target;
      }
    }
  }
}

TEST(ProtectedParts, AnyBytesInLinearTime) {
  RandomStream random{.seed = 4};
  std::string noise;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>(random.uniform_integer(256));
  std::vector<std::string> units = {"{", "%(", "a.", "a@", "&a", "www.", "http://", "1,", "${", "{{", "a@b.", "'"};
  for (std::string& unit : units) {
    const std::string once = unit;
    while (unit.size() < 300'000) unit += once;
  }
  units.push_back(noise);
  for (const std::string& text : units) {
    const auto start = std::chrono::steady_clock::now();
    std::size_t at = 0;
    for (const ProtectedPart& part : protected_parts(text)) {
      ASSERT_GE(part.bytes.begin, at);
      ASSERT_GT(part.bytes.end, part.bytes.begin);
      at = part.bytes.end;
    }
    EXPECT_LE(at, text.size());
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 3) << text.substr(0, 9);
  }
}

}  // namespace
}  // namespace heed::text

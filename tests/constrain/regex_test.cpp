#include "constrain/constrain_support.h"
#include "heed/base/utf8.h"
#include "support/error_of.h"

namespace heed::constrain {
namespace {

using test::error_of;

const char* const kPatterns[] = {
    "",
    "a",
    "abc",
    "a|b|cd",
    "(ab|a)(c|bcd)",
    "a*b+c?",
    "(a|b)*abb",
    "(?:ab){2,3}",
    "a{3}",
    "a{2,}b{0,2}",
    "(a{1,3}b){2}",
    "((a|ab)*){2,4}c",
    "(a*)*",
    "(a?){3,5}b",
    "(a*b?){2}",
    "(?:|a)b",
    "(?P<name>a+)b",
    "[abc]",
    "[^abc]",
    "[a-c1-3]+",
    "[a-]+",
    "[-a]+",
    "[\\]a\\\\]+",
    "[^\\d\\s]+",
    "\\d+",
    "\\D",
    "\\w+\\s\\w+",
    "\\W",
    "\\S+",
    ".",
    ".+b",
    "a.c",
    "\\.\\*\\+\\?\\(\\)",
    "\\x61\\u0062",
    "[\\x61-\\u0063]+",
    "é+",
    "[à-ü]{2}",
    "[^é]",
    "(é|\\u00e9a)b",
    "漢?字",
    "[一-龥]+a",
    "😀|[😁-😃]a",
    "^abc$",
    "^a|b$",
    "(^a|^b)c",
    "a(b$|c$)",
    "^(?:a|bc)+$",
    "{a}",
    "a{b}",
    "x{1000}",
    "(a{1,100}b){1,100}",
    "(ab*?c+?){1,2}?",
    "-?(0|[1-9][0-9]*)(\\.[0-9]+)?",
    "([a-c]{2}\\d){1,3}|[a-c]\\d{2,4}",
    "\\t\\n\\r\\f\\v",
    "(((a)))",
    "(a|b|)(c|)",
    "[ab]{0}c",
};

// Strings over the characters that the patterns use, short ones all, longer ones at random, and some made to fit.
std::vector<std::string> texts_for(std::string_view pattern, RandomStream& random) {
  std::vector<std::string> alphabet;
  for (const CodePoint& point : Utf8View(pattern)) {
    std::string text;
    utf8_append(text, point.value);
    if (point.value != '\r' && point.value != 0x2028) alphabet.push_back(text);
  }
  for (const char* text : {"a", "b", "c", "1", " ", "\n", "é", "漢", "😀", "x"}) alphabet.emplace_back(text);
  std::vector<std::string> texts{"", std::string(1000, 'x'), std::string(999, 'x'), "abababababab", "aaaaabaab"};
  for (const std::string& a : alphabet) {
    texts.push_back(a);
    for (const std::string& b : alphabet) texts.push_back(a + b);
  }
  for (int i = 0; i < 400; ++i) {
    std::string text;
    const std::uint64_t few = 1 + random.uniform_integer(alphabet.size());
    for (std::uint64_t k = random.uniform_integer(12); k > 0; --k) text += alphabet[random.uniform_integer(few)];
    texts.push_back(text);
  }
  return texts;
}

TEST(Regex, MatchesWhatPythonMatches) {
  if (!test::has_python_modules("re")) GTEST_SKIP() << test::kPython << " is missing: nothing to compare with";
  RandomStream random{.seed = 1};
  const auto vocabulary = test::byte_vocabulary();
  const auto end = static_cast<std::int32_t>(vocabulary->size() - 1);
  Json questions = Json::array();
  for (const char* pattern : kPatterns) {
    std::vector<std::string> texts = texts_for(pattern, random);
    // Texts that we make are those that must be matched.
    const TokenConstraint constraint(regex_constraint(pattern), vocabulary, {end});
    for (int i = 0; i < 20; ++i) {
      const auto text = test::random_text(constraint, end, random, 8);
      if (text && text->find('\r') == std::string::npos) texts.push_back(*text);
    }
    questions.push_back({{"pattern", pattern}, {"texts", texts}});
  }
  const Json answers = test::python_answers(questions);
  ASSERT_EQ(answers.size(), questions.size());
  int matches = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto pattern = questions[i]["pattern"].get<std::string>();
    const Constraint constraint = regex_constraint(pattern);
    for (std::size_t k = 0; k < questions[i]["texts"].size(); ++k) {
      const auto text = questions[i]["texts"][k].get<std::string>();
      const bool expected = answers[i][k].get<bool>();
      matches += expected;
      EXPECT_EQ(constraint.matches(text), expected) << pattern << " on " << Json(text);
      EXPECT_TRUE(!expected || constraint.matches_start(std::string_view(text).substr(0, text.size() / 2)));
    }
  }
  EXPECT_GT(matches, 2000);
}

TEST(Regex, LettersOfAllScripts) {
  const Constraint letters = regex_constraint("\\p{L}+");
  for (const char* text : {"a", "Zürich", "漢字", "кот", "𝒳"}) EXPECT_TRUE(letters.matches(text)) << text;
  for (const char* text : {"", "1", "a b", "-", "😀"}) EXPECT_FALSE(letters.matches(text)) << text;
  EXPECT_TRUE(regex_constraint("\\P{L}").matches("1"));
  EXPECT_TRUE(regex_constraint("[\\p{N}_]+").matches("1_٣"));
}

TEST(Regex, RefusesByName) {
  const std::pair<const char*, const char*> kCases[] = {
      {"(?=a)b", "lookahead"},
      {"(?!a)b", "lookahead"},
      {"(?<=a)b", "lookbehind"},
      {"(?<!a)b", "lookbehind"},
      {"(a)\\1", "back-references"},
      {"(?<n>a)\\k<n>", "back-references"},
      {"(?P<n>a)(?P=n)", "back-references"},
      {"a\\b", "word boundaries"},
      {"(?i)a", "flags"},
      {"a++", "possessive"},
      {"(?>a)", "atomic"},
      {"(a", "a ( without its )"},
      {"a)", "a ) without its ("},
      {"*a", "a quantifier without"},
      {"a**", "a quantifier after a quantifier"},
      {"[a", "ends too early"},
      {"[b-a]", "ends before it begins"},
      {"[]", "an empty class"},
      {"a{,2}", "write {0,"},
      {"a{3,2}", "minimum above its maximum"},
      {"\\q", "unknown escape"},
      {"\\p{Greek}", "only L, N, M and Mn"},
      {"\\ud800", "not a character"},
      {"a^b", "^ is supported at the start"},
      {"(a$)*", "inside a repetition"},
      {"a{99999999}", "more than 1000000"},
      {"\xFF", "not UTF-8"},
      {"[^\\s\\S]", "a class without characters"},
  };
  for (const auto& [pattern, expected] : kCases) {
    const std::string message = error_of(ErrorKind::bad_format, [&, p = pattern] { regex_constraint(p); });
    EXPECT_NE(message.find(expected), std::string::npos) << pattern << ": " << message;
  }
}

TEST(Regex, HostileOnesAreRefusedOrCheap) {
  EXPECT_TRUE(regex_constraint("(((a{1000}){1000}){1000}){1000}").matches_start(std::string(5000, 'a')));
  EXPECT_TRUE(regex_constraint("(a*)*(a*)*(a*)*b").matches(std::string(2000, 'a') + "b"));
  EXPECT_FALSE(regex_constraint("((a|a)*)*").matches(std::string(2000, 'a') + "b"));
  EXPECT_TRUE(regex_constraint("((a{1,500}){1,500}){1,500}").matches(std::string(3000, 'a')));
  EXPECT_TRUE(regex_constraint("((a?){1000}){1000}").matches(std::string(1500, 'a')));
  error_of(ErrorKind::bad_format, [] { regex_constraint(std::string(100000, '(')); });
  error_of(ErrorKind::bad_format, [] { regex_constraint(std::string(1000000, 'a')); });
}

}  // namespace
}  // namespace heed::constrain

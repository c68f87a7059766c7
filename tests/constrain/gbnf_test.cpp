#include <bit>

#include "constrain/constrain_support.h"
#include "support/error_of.h"

namespace heed::constrain {
namespace {

using test::error_of;

void expect_texts(const Constraint& constraint, const std::vector<std::string>& good,
                  const std::vector<std::string>& bad) {
  for (const std::string& text : good) EXPECT_TRUE(constraint.matches(text)) << Json(text);
  for (const std::string& text : bad) EXPECT_FALSE(constraint.matches(text)) << Json(text);
}

TEST(Gbnf, Arithmetic) {
  expect_texts(gbnf_constraint(R"g(
# sums of products
root  ::= expr "\n"
expr  ::= term ([-+] term)*   # no left recursion
term  ::= factor ([*/] factor)*
factor ::= number | "(" expr ")" | "-" factor
number ::= [0-9]+ ("." [0-9]{1,2})?
)g"),
               {"1\n", "1+2*3\n", "(1+2)*-3.25/(4)\n", "((((((1))))))\n", "--1\n"},
               {"", "1", "1+\n", "(1\n", "1.234\n", "1 + 2\n", "()\n"});
}

TEST(Gbnf, ChessLikeMoves) {
  expect_texts(gbnf_constraint(R"g(root ::= (
    # numbered pairs of moves
    "1. " move " " move "\n"
    ([1-9] [0-9]? ". " move " " move "\n")*
)
move ::= (pawn | piece |
  castle) [+#]?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?)g"),
               {"1. e4 e5\n", "1. e4 e5\n2. Nf3 Nc6\n3. Bb5 O-O-O+\n12. exd8=Q# Rfe1\n"},
               {"1. e4\n", "2. e4 e5\n", "1. e4 e9\n", "1. e4 e5"});
}

TEST(Gbnf, ListsAndJson) {
  expect_texts(gbnf_constraint("root ::= (\"- \" item)+\nitem ::= [^\\n]+ \"\\n\""), {"- a\n", "- é ] x\n- b\n"},
               {"", "- \n", "-a\n", "- a"});
  expect_texts(gbnf_constraint(R"g(root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20})g"),
               {"{}", "{ \"a\": [1, 2.5e3, {\"b\": null}]}", "{\"\\u00e9\\n\":\"😀\"}", "{\"a\":[[[[]]]]}\n  "},
               {"", "[]", "{\"a\":}", "{\"a\":01}", "{\"a\":1,}", "{\"\t\":1}", "{   }"});
}

TEST(Gbnf, EveryNotation) {
  expect_texts(gbnf_constraint("root ::= \"a\"{2} \"b\"{1,} \"c\"{0,2} \"d\"?"), {"aab", "aabbbccd"},
               {"ab", "aac", "aabccc"});
  expect_texts(gbnf_constraint("root ::= \"\\x41\\u00e9\\U0001F600\\t\\\"\\\\\" [\\[\\]\\-x]"),
               {"Aé😀\t\"\\[", "Aé😀\t\"\\-"}, {"Aé😀\t\"\\y"});
  expect_texts(gbnf_constraint("root ::= ."), {"a", "\n", "漢", "😀"}, {"", "ab", "\xE6", "\xFF"});
  expect_texts(gbnf_constraint("root ::= [^a-cé]"), {"d", "è", "漢"}, {"a", "é", "\xC3"});
  expect_texts(gbnf_constraint("root ::= [+-] [-+] [ぁ-ゟ]"), {"+-ひ", "--ぁ"}, {"+,ひ", "+-ア"});
  expect_texts(gbnf_constraint("root ::= \"a\" |\n  \"b\" |\n # more\n \"c\"\nother ::= \"x\""), {"a", "b", "c"},
               {"x", ""});
  expect_texts(gbnf_constraint("root ::= \"\" | \"ab\"*"), {"", "ab", "abab"}, {"aba", "abb"});
  expect_texts(gbnf_constraint("start ::= \"s\"\nroot ::= start", "start"), {"s"}, {""});
  expect_texts(gbnf_constraint("root::=a-B_1\r\na-B_1::=\"x\"\r\n"), {"x"}, {""});
  // Repetitions of what may be empty, and ambiguous nesting, end.
  expect_texts(gbnf_constraint("root ::= (ws x?)* \"!\"\nws ::= \" \"*\nx ::= \"x\"?"), {"!", " x x!", "xx!"}, {"y!"});
  expect_texts(gbnf_constraint("root ::= \"(\" (a | b) | \"x\"\na ::= root \"1\"\nb ::= root \"2\""),
               {"x", "(x1", std::string(300, '(') + "x" + std::string(300, '1'), "(((x121"}, {"(x", "(x3"});
}

TEST(Gbnf, TokensByIdAndByText) {
  const auto vocabulary = test::byte_vocabulary();
  const auto end = static_cast<std::int32_t>(vocabulary->size() - 1);
  const TokenConstraint constraint(gbnf_constraint("root ::= <[65]> !<[66]>{2} </s>"), vocabulary, {});
  ConstraintState state = constraint.start();
  std::vector<std::uint64_t> mask(vocabulary->mask_words());
  const auto allowed = [&] {
    state.allowed(mask);
    int count = 0;
    for (const std::uint64_t word : mask) count += std::popcount(word);
    return count;
  };
  EXPECT_EQ(allowed(), 1);
  EXPECT_FALSE(state.accept(66));
  EXPECT_TRUE(state.accept(65));
  EXPECT_EQ(allowed(), static_cast<int>(vocabulary->size()) - 2);  // neither 66 nor the special one
  EXPECT_FALSE(state.accept(66));
  EXPECT_TRUE(state.accept(67));
  EXPECT_TRUE(state.accept(260));
  EXPECT_EQ(allowed(), 1);
  EXPECT_FALSE(state.accept(67));
  EXPECT_TRUE(state.accept(end));
  EXPECT_TRUE(state.must_end());
  EXPECT_NE(error_of(ErrorKind::invalid_argument,
                     [&] { TokenConstraint(gbnf_constraint("root ::= <think>"), vocabulary, {}); })
                .find("<think>"),
            std::string::npos);
}

TEST(Gbnf, RefusesWithPlaceAndReason) {
  const std::pair<std::string, const char*> kCases[] = {
      {"root ::= a", "grammar:1:10: rule a is not defined"},
      {"root ::= \"x\"\nroot ::= \"y\"", "grammar:2:1: rule root is defined a second time"},
      {"a ::= \"x\"", "there is no rule root"},
      {"", "there is no rule root"},
      {"root ::= root \"x\" | \"y\"",
       "left recursion, a rule leads back to itself before anything is read: root -> root"},
      {"root ::= a\na ::= b \"x\"\nb ::= c? a", "a -> b -> a\nc"},
      {"root ::= ws root \"x\" | \"y\"\nws ::= \" \"*", "root -> root"},
      {"root ::= (root \"x\"){2,3}", "left recursion"},
      {"root ::= \"x\" root", "no text fits, root can never end"},
      {"root = \"x\"", "grammar:1:6: expected ::="},
      {"root ::= \"x", "the \" that ends the literal"},
      {"root ::= [a", "the ] that ends the class"},
      {"root ::= []", "an empty class"},
      {"root ::= [b-a]", "ends before it begins"},
      {"root ::= (\"x\"", "expected )"},
      {"root ::= \"x\")", "expected the end of the line"},
      {"root ::= * \"x\"", "a repetition without anything before it"},
      {"root ::= \"x\"{3,2}", "a minimum above its maximum"},
      {"root ::= \"x\"{a}", "expected the number of repetitions"},
      {"root ::= \"\\q\"", "unknown escape"},
      {"root ::= \"\\u12\"", "expected 4 hexadecimal digits"},
      {"root ::= \"\\uD800\"", "not a character"},
      {"root ::= <[x]>", "expected a token by its id"},
      {"root ::= <think", "expected > after"},
      {"root ::= %", "expected a rule, a literal"},
      {"root ::= \"\xFF\"", "not UTF-8"},
  };
  for (const auto& [text, expected_and_more] : kCases) {
    std::string grammar = text, expected = expected_and_more;
    if (const std::size_t cut = expected.find("\nc"); cut != std::string::npos) {
      expected.resize(cut);
      grammar += "\nc ::= \"c\"";
    }
    const std::string message = error_of(ErrorKind::bad_format, [&] { gbnf_constraint(grammar); });
    EXPECT_NE(message.find(expected), std::string::npos) << grammar << ": " << message;
  }
}

TEST(Gbnf, HostileOnesAreRefusedOrCheap) {
  std::string chain = "root ::= r0\n";
  for (int i = 0; i < 100000; ++i)
    chain += "r" + std::to_string(i) + " ::= \"x\" r" + std::to_string(i + 1) + " |\"y\"\n";
  EXPECT_TRUE(gbnf_constraint(chain + "r100000 ::= \"z\"").matches("xxxy"));
  std::string many = "root ::= \"x\"\n";
  for (int i = 0; i < 1000000; ++i) many += "r" + std::to_string(i) + "::=\"\"\n";
  try {
    EXPECT_TRUE(gbnf_constraint(many).matches("x"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_format);
  }
  error_of(ErrorKind::bad_format, [] { gbnf_constraint("root ::= " + std::string(100000, '(')); });
  EXPECT_TRUE(gbnf_constraint("root ::= ((\"x\"{1000}){1000}){1000}").matches_start(std::string(3000, 'x')));
  // Levels of operators, each of which can be begun in three ways.
  std::string levels = "root ::= e0\n";
  for (int i = 0; i < 40; ++i) {
    const std::string e = "e" + std::to_string(i), next = "e" + std::to_string(i + 1);
    levels += e + " ::= " + next + " \"+" + std::to_string(i) + "\" " + e + " | " + next + " \"-\" " + e + " | " +
              next + "\n";
  }
  const Constraint operators = gbnf_constraint(levels + "e40 ::= [0-9] | \"(\" e0 \")\"");
  EXPECT_TRUE(operators.matches("1+39(2-3+7(((4))))-5"));
  EXPECT_FALSE(operators.matches_start("1+*"));
  // The depth is bounded, and what was begun can always be ended.
  const Constraint nested = gbnf_constraint("root ::= \"(\" root \")\" | \"x\"");
  EXPECT_TRUE(nested.matches(std::string(900, '(') + "x" + std::string(900, ')')));
  EXPECT_FALSE(nested.matches_start(std::string(1100, '(')));
}

}  // namespace
}  // namespace heed::constrain

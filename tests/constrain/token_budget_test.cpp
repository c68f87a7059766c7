// Texts that must be whole within a number of tokens.
#include <map>

#include "constrain/constrain_support.h"
#include "heed/constrain/matcher.h"

namespace heed::constrain {
namespace {

struct Case {
  std::string name;
  Constraint constraint;
  int least;  // so many tokens of the byte vocabulary, which has some longer ones, are enough
};

std::vector<Case> cases() {
  const auto schema = [](const char* text) { return json_schema_constraint(std::string_view(text)); };
  return {
      {"empty", regex_constraint("(ab)*"), 0},
      {"digits", regex_constraint("[0-9]{3}-[a-c]+"), 5},
      {"twelve", regex_constraint("(12|777)x"), 2},
      {"rounds", regex_constraint("((ab|cde){2}x){3,5}|y{40}"), 9},
      {"many rounds", regex_constraint("[a-z]{100}"), 100},
      {"characters", regex_constraint("(é|中文)z"), 2},
      {"enum", schema(R"({"type":"object","properties":{"a":{"enum":["x","y"]}},"required":["a"]})"), 7},
      {"strings", schema(R"({"type":"object","properties":{"story":{"type":"string","minLength":3},
                             "pages":{"type":"array","items":{"type":"integer","minimum":10},"minItems":2}},
                             "required":["story","pages"],"additionalProperties":false})"),
       29},
      {"any JSON", json_constraint(), 1},
      {"parentheses", gbnf_constraint("root ::= \"(\" root \")\" | [0-9] root [0-9] | \"x\""), 1},
      {"ambiguous",
       gbnf_constraint("root ::= (a | b | \"x\")+ \"\\n\"\na ::= \"(\" root \"1\"\nb ::= \"(\" root \"2\" "
                       "| c{2,3}\nc ::= [a-z]+ \" \"?"),
       2},
      {"named", gbnf_constraint("root ::= <[263]> \"a\" [0-9]{2} <[261]>"), 5},
  };
}

// A text by choosing among what is allowed while `budget` tokens are; whether it is whole then.
bool whole_within(const TokenConstraint& tokens, int budget, RandomStream& random, std::string& text) {
  const Vocabulary& vocabulary = tokens.vocabulary();
  ConstraintState state = tokens.start();
  std::vector<std::uint64_t> mask(vocabulary.mask_words());
  for (int left = budget; left > 0; --left) {
    if (!state.allowed(mask, static_cast<std::uint64_t>(left))) break;
    std::vector<std::int32_t> allowed;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
      if (mask[token >> 6] >> (token & 63) & 1) allowed.push_back(token);
    }
    const std::int32_t next = allowed[random.uniform_integer(allowed.size())];
    EXPECT_TRUE(state.accept(next));
    text += vocabulary.bytes(next);
  }
  return state.can_end();
}

// Whatever is chosen: a text that can be whole is.
TEST(TokenBudget, TextsAreWholeInTime) {
  RandomStream random{.seed = 3};
  for (const auto& [name, constraint, least] : cases()) {
    SCOPED_TRACE(name);
    const TokenConstraint tokens(constraint, test::byte_vocabulary(), {});
    for (int budget = 1; budget <= least + 40; budget += budget > least + 6 ? 7 : 1) {
      for (int walk = 0; walk < 8; ++walk) {
        std::string text;
        const bool whole = whole_within(tokens, budget, random, text);
        EXPECT_TRUE(whole || budget < least) << budget << " tokens: " << text;
        if (name == "named") continue;  // which bytes alone do not tell
        EXPECT_EQ(constraint.matches(text), whole) << text;
        EXPECT_TRUE(constraint.matches_start(text)) << text;
      }
    }
  }
}

TEST(TokenBudget, TextsOfPublishedVocabulariesAreWholeInTime) {
  RandomStream random{.seed = 5};
  int checked = 0;
  for (const char* folder : {test::kGpt2Folder, test::kLlamaFolder}) {
    const auto vocabulary = test::vocabulary_of(folder);
    if (!vocabulary) continue;
    ++checked;
    for (const auto& [name, constraint, least] : cases()) {
      if (name == "named") continue;
      SCOPED_TRACE(name);
      const TokenConstraint tokens(constraint, vocabulary, {});
      for (const int budget : {least + 1, least + 9}) {
        std::string text;
        EXPECT_TRUE(whole_within(tokens, budget, random, text)) << budget << " tokens: " << text;
        EXPECT_TRUE(constraint.matches(text)) << text;
      }
    }
  }
  if (checked == 0) GTEST_SKIP() << test::shared_data(test::kGpt2Folder) << " is missing";
}

// With enough tokens left nothing is left out, and what is found out in one text is nothing to another (law 1).
TEST(TokenBudget, MasksDependOnTheTextAndTheTokensLeftAlone) {
  const auto vocabulary = test::byte_vocabulary();
  for (const auto& [name, constraint, least] : cases()) {
    SCOPED_TRACE(name);
    const TokenConstraint used(constraint, vocabulary, {});
    RandomStream random{.seed = 7};
    std::string ignored;
    for (int budget = 1; budget < 60; ++budget) whole_within(used, budget, random, ignored);
    ConstraintState old = used.start(), fresh = TokenConstraint(constraint, vocabulary, {}).start();
    std::vector<std::uint64_t> all(vocabulary->mask_words()), mask(all.size()), again(all.size());
    for (int step = 0; step < 12 && old.allowed(all); ++step) {
      for (std::uint64_t left = 1; left < 60; left += 3) {
        EXPECT_EQ(old.allowed(mask, left), fresh.allowed(again, left));
        EXPECT_EQ(mask, again) << "step " << step << ", " << left << " left";
      }
      old.allowed(mask, 5000);
      EXPECT_EQ(mask, all);
      std::int32_t token = 0;
      while (!(all[token >> 6] >> (token & 63) & 1)) ++token;
      ASSERT_TRUE(old.accept(token) && fresh.accept(token));
    }
  }
}

// By trying all bytes, breadth first.
TEST(TokenBudget, ShortestEndsAreThoseByTrying) {
  for (const auto& [name, constraint, least] : cases()) {
    if (name == "named") continue;
    SCOPED_TRACE(name);
    Matcher matcher(constraint.automaton());
    RandomStream random{.seed = 9};
    for (int walk = 0; walk < 20; ++walk) {
      StackSet set = matcher.start();
      for (std::uint64_t steps = random.uniform_integer(12); steps > 0; --steps) {
        std::vector<StackSet> nexts;
        for (const std::uint8_t byte : constraint.automaton()->byte_of_class) {
          if (const StackSet next = matcher.step(set, byte); next != Matcher::kDead) nexts.push_back(next);
        }
        if (nexts.empty()) break;
        set = nexts[random.uniform_integer(nexts.size())];
      }
      std::vector<StackSet> level = {set};
      std::uint32_t bytes = 0;
      const auto ends = [&](StackSet each) { return matcher.ends(each); };
      for (std::map<StackSet, bool> seen; std::ranges::none_of(level, ends) && seen.size() < 3000; ++bytes) {
        std::vector<StackSet> deeper;
        for (const StackSet each : level) {
          for (const std::uint8_t byte : constraint.automaton()->byte_of_class) {
            const StackSet next = matcher.step(each, byte);
            if (next != Matcher::kDead && seen.emplace(next, true).second) deeper.push_back(next);
          }
        }
        level = std::move(deeper);
      }
      if (std::ranges::any_of(level, ends)) {
        EXPECT_EQ(matcher.shortest(set), bytes);
      } else {
        EXPECT_GE(matcher.shortest(set), bytes);  // too many ways to try
      }
    }
  }
}

}  // namespace
}  // namespace heed::constrain

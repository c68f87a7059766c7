#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "constrain/constrain_support.h"
#include "support/error_of.h"

namespace heed::constrain {
namespace {

const char* const kPerson = R"({"type":"object","properties":{
  "name":{"type":"string","maxLength":60},"age":{"type":"integer","minimum":0,"maximum":150},
  "email":{"type":"string","format":"email"},"tags":{"type":"array","items":{"enum":["red","green","blue"]},"maxItems":5},
  "address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"},"zip":{"type":"string","pattern":"^[0-9]{5}$"}},
    "required":["street","city"],"additionalProperties":false},
  "scores":{"type":"array","items":{"type":"number"}}},
  "required":["name","age","tags","address"],"additionalProperties":false})";

std::vector<std::pair<std::string, Constraint>> constraints() {
  return {
      {"person", json_schema_constraint(std::string_view(kPerson))},
      {"any JSON", json_constraint()},
      {"words", regex_constraint("([A-Z][a-z]{1,12}[ ,.!?]){3,30}")},
      {"any text", regex_constraint("[^\\n]{0,40}\\n")},
      {"scripts", regex_constraint("(\\p{L}|[😀-😿]){2,9}")},
      {"arithmetic",
       gbnf_constraint("root ::= term ([-+*/] term)* \"\\n\"\nterm ::= \"(\" root? term \")\" | [0-9]{1,4}")},
      {"ambiguous", gbnf_constraint("root ::= (a | b | \"x\")+ \"\\n\"\na ::= \"(\" root \"1\"\nb ::= \"(\" root \"2\" "
                                    "| c{2,3}\nc ::= [a-z]+ \" \"?")},
  };
}

// The definition: a token is allowed when its bytes bring the text to the start of a whole one.
std::vector<std::uint64_t> mask_by_trying(const Constraint& constraint, const std::string& text,
                                          const Vocabulary& vocabulary) {
  std::vector<std::uint64_t> mask(vocabulary.mask_words());
  // Bytes that may come first rule most tokens out.
  std::vector<bool> first(256);
  for (int byte = 0; byte < 256; ++byte) first[byte] = constraint.matches_start(text + static_cast<char>(byte));
  for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
    if (!vocabulary.ordinary(token)) continue;
    const std::string_view bytes = vocabulary.bytes(token);
    if (!first[static_cast<unsigned char>(bytes[0])]) continue;
    if (bytes.size() == 1 || constraint.matches_start(text + std::string(bytes)))
      mask[token >> 6] |= std::uint64_t{1} << (token & 63);
  }
  return mask;
}

void expect_masks(const std::shared_ptr<const Vocabulary>& vocabulary, std::int32_t end, int walks) {
  RandomStream random{.seed = 11};
  for (const auto& [name, constraint] : constraints()) {
    SCOPED_TRACE(name);
    const TokenConstraint tokens(constraint, vocabulary, {end});
    int tokens_allowed = 0;
    for (int walk = 0; walk < walks; ++walk) {
      ConstraintState state = tokens.start();
      std::string text;
      std::vector<std::uint64_t> mask(vocabulary->mask_words());
      const std::uint64_t checked = random.uniform_integer(30);
      for (std::uint64_t step = 0; step <= checked; ++step) {
        ASSERT_TRUE(state.allowed(mask)) << text;
        if (step == checked) {
          auto expected = mask_by_trying(constraint, text, *vocabulary);
          if (constraint.matches(text)) expected[end >> 6] |= std::uint64_t{1} << (end & 63);
          EXPECT_EQ(state.can_end(), constraint.matches(text)) << text;
          EXPECT_EQ(mask, expected) << Json(text);
        }
        std::vector<std::int32_t> allowed;
        for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary->size(); ++token) {
          if (token != end && mask[token >> 6] >> (token & 63) & 1) allowed.push_back(token);
        }
        tokens_allowed += static_cast<int>(allowed.size());
        if (allowed.empty()) break;
        const std::int32_t next = allowed[random.uniform_integer(allowed.size())];
        ASSERT_TRUE(state.accept(next));
        text += vocabulary->bytes(next);
      }
    }
    EXPECT_GT(tokens_allowed, 0);
  }
}

TEST(TokenConstraint, MasksOfBytesAreThoseByTrying) {
  expect_masks(test::byte_vocabulary(), 268, 60);
}

TEST(TokenConstraint, MasksOfGpt2AreThoseByTrying) {
  const auto vocabulary = test::vocabulary_of(test::kGpt2Folder);
  if (!vocabulary) GTEST_SKIP() << test::shared_data(test::kGpt2Folder) << " is missing";
  expect_masks(vocabulary, 50256, 2);
}

TEST(TokenConstraint, MasksOfLlamaAreThoseByTrying) {
  const auto vocabulary = test::vocabulary_of(test::kLlamaFolder);
  if (!vocabulary) GTEST_SKIP() << test::shared_data(test::kLlamaFolder) << " is missing";
  expect_masks(vocabulary, 2, 2);
}

// The bytes of tokens, joined, are what the tokenizer decodes.
TEST(TokenConstraint, BytesOfTokensAreWhatTheyDecodeTo) {
  int checked = 0;
  for (const char* folder : {test::kGpt2Folder, test::kLlamaFolder, "weights/minilm"}) {
    if (!std::filesystem::exists(test::shared_data(folder))) continue;
    ++checked;
    const text::Tokenizer tokenizer = text::load_tokenizer(test::shared_data(folder));
    const text::TokenBytes tokens = text::vocabulary_bytes(tokenizer);
    for (const std::string text :
         {"Hello world, it's 12:30!", "naïve 漢字 😀 \t end", "{\"a\": [1, 2.5], \"b\": null}"}) {
      const std::vector<std::int32_t> ids = tokenizer.encode(text, {.add_special = false}).ids;
      std::string bytes;
      for (const std::int32_t id : ids) {
        if (!tokenizer.is_special(id)) bytes += tokens.bytes[static_cast<std::size_t>(id)];
      }
      std::string decoded = tokenizer.decode(ids);
      // At the start of a text decoders drop a space.
      if (bytes.starts_with(' ') && !decoded.starts_with(' ')) decoded.insert(0, 1, ' ');
      EXPECT_EQ(bytes, decoded) << folder;
    }
  }
  if (checked == 0) GTEST_SKIP() << test::shared_data(test::kGpt2Folder) << " is missing";
}

TEST(TokenConstraint, AppliesToLogitsAndEnds) {
  const auto vocabulary = test::byte_vocabulary();
  const std::int32_t end = 268;
  const TokenConstraint constraint(regex_constraint("ab?"), vocabulary, {end});
  ConstraintState state = constraint.start();
  std::vector<float> logits(300, 1.0f);  // more than there are tokens
  EXPECT_TRUE(state.apply(logits));
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const bool allowed =
        i == 'a' || (i < vocabulary->size() && vocabulary->bytes(static_cast<std::int32_t>(i)) == "ab");
    EXPECT_EQ(logits[i], allowed ? 1.0f : -std::numeric_limits<float>::infinity()) << i;
  }
  EXPECT_FALSE(state.can_end());
  EXPECT_FALSE(state.accept(end));
  EXPECT_FALSE(state.accept('b'));
  EXPECT_FALSE(state.accept(-1));
  EXPECT_FALSE(state.accept(100000));
  EXPECT_TRUE(state.accept('a'));
  EXPECT_TRUE(state.can_end());
  EXPECT_FALSE(state.must_end());
  ConstraintState fork = state;
  EXPECT_TRUE(fork.accept('b'));
  EXPECT_TRUE(fork.must_end());
  EXPECT_FALSE(state.must_end());
  EXPECT_TRUE(fork.accept(end));
  EXPECT_TRUE(fork.ended());
  std::vector<std::uint64_t> mask(vocabulary->mask_words());
  EXPECT_FALSE(fork.allowed(mask));
  EXPECT_FALSE(fork.accept('a'));
  std::vector<std::uint64_t> small(1);
  test::error_of(ErrorKind::invalid_argument, [&] { state.allowed(small); });
  test::error_of(ErrorKind::invalid_argument, [&] { TokenConstraint(regex_constraint("a"), vocabulary, {999}); });
}

TEST(TokenConstraint, ThreadsShareOneConstraint) {
  const auto vocabulary = test::byte_vocabulary();
  const TokenConstraint constraint(json_constraint(), vocabulary, {268});
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> texts(4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&, i] {
      RandomStream random{.seed = 5};
      for (int k = 0; k < 20; ++k) texts[i].push_back(test::random_text(constraint, 268, random).value_or("none"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : texts) EXPECT_EQ(other, texts[0]);
}

// What a step costs at 50,257 tokens, first when everything is new, then when masks are known, then where only 10 more
// tokens may come, over and over. A step of GPT-2 small takes 10 to 40 ms.
TEST(TokenConstraint, CostPerToken) {
  const auto vocabulary = test::vocabulary_of(test::kGpt2Folder);
  if (!vocabulary) GTEST_SKIP() << test::shared_data(test::kGpt2Folder) << " is missing";
  for (const auto& [name, constraint] : constraints()) {
    const TokenConstraint tokens(constraint, vocabulary, {50256});
    for (const std::string round : {"cold", "warm", "near the limit"}) {
      const std::uint64_t left = round == "near the limit" ? 10 : ConstraintState::kAnyNumber;
      RandomStream random{.seed = 5};
      std::vector<float> logits(vocabulary->size()), noise(vocabulary->size());
      for (float& value : noise) value = random.uniform_float();
      double spent = 0, worst = 0;
      int count = 0;
      for (int walk = 0; walk < 10; ++walk) {
        ConstraintState state = tokens.start();
        for (int step = 0; step < 100 && !state.ended(); ++step, ++count) {
          std::rotate_copy(noise.begin(),
                           noise.begin() + static_cast<std::ptrdiff_t>(random.uniform_integer(noise.size())),
                           noise.end(), logits.begin());
          std::clock_t start = std::clock();  // processor time, whatever else the machine does
          state.apply(logits, left);
          std::clock_t time = std::clock() - start;
          const auto best = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
          start = std::clock();
          state.accept(best);
          time += std::clock() - start;
          const double taken = static_cast<double>(time) * 1e6 / CLOCKS_PER_SEC;
          spent += taken;
          worst = std::max(worst, taken);
        }
      }
      std::cout << name << ", " << round << ": " << std::lround(spent / count) << " us per token over " << count
                << " tokens, at most " << std::lround(worst) << std::endl;
      RecordProperty(name + " " + round, std::to_string(spent / count));
      EXPECT_LT(spent / count, 5000) << name;  // far above, for sanitizers
    }
  }
}

}  // namespace
}  // namespace heed::constrain

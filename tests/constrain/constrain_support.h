// What the tests of constraints share: another opinion by Python, vocabularies, texts by random walks.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/base/random.h"
#include "heed/constrain/constraint.h"
#include "heed/text/load_tokenizer.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"
#include "support/torch.h"

namespace heed::test {

inline Json python_answers(const Json& questions) {
  const TempFolder folder;
  const auto asked = folder.write("questions.json", questions.dump()), answered = folder.path() / "answers.json";
  EXPECT_EQ(run_python("constrain/python_answers.py " + asked.string() + " " + answered.string()), 0);
  std::stringstream text;
  text << std::ifstream(answered).rdbuf();
  return parse_json(text.str(), "answers.json");
}

// GPT-2's tokens by bytes that may be half characters, or Llama's with byte fallback; null where the file is missing.
inline std::shared_ptr<const constrain::Vocabulary> vocabulary_of(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(shared_data(folder))) return nullptr;
  return std::make_shared<const constrain::Vocabulary>(text::load_tokenizer(shared_data(folder)));
}
inline constexpr const char* kGpt2Folder = "suites/tokenizers/gpt2";
inline constexpr const char* kLlamaFolder = "weights/stories15M";

// A vocabulary of the 256 bytes, some longer tokens, and an end token, which is the last.
inline std::shared_ptr<const constrain::Vocabulary> byte_vocabulary() {
  text::TokenBytes tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.bytes.emplace_back(1, static_cast<char>(byte));
  for (const char* token :
       {"\", \"", "\":", "\"}", "}]", "null", "true", "false", "\\\"", "12", "ab", "é", "\xC3", "</s>"}) {
    tokens.bytes.emplace_back(token);
  }
  tokens.special.assign(tokens.bytes.size(), false);
  tokens.special.back() = true;
  return std::make_shared<const constrain::Vocabulary>(std::move(tokens));
}

// A text by choosing among the allowed tokens at random, and from `hurry` tokens on the end wherever it is allowed and
// tokens that close something where not. Nothing when `limit` tokens were not enough.
inline std::optional<std::string> random_text(const constrain::TokenConstraint& constraint, std::int32_t end_token,
                                              RandomStream& random, int hurry = 40, int limit = 2000) {
  const constrain::Vocabulary& vocabulary = constraint.vocabulary();
  constrain::ConstraintState state = constraint.start();
  std::vector<std::uint64_t> mask(vocabulary.mask_words());
  std::string text;
  for (int step = 0; step < limit; ++step) {
    if (!state.allowed(mask)) {
      ADD_FAILURE() << "no token may follow " << text;
      return std::nullopt;
    }
    std::vector<std::int32_t> tokens, closing;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary.size(); ++token) {
      if (!(mask[token >> 6] >> (token & 63) & 1)) continue;
      tokens.push_back(token);
      const std::string_view bytes = vocabulary.bytes(token);
      if (bytes == "\"" || bytes == "}" || bytes == "]" || bytes == "\"}" || bytes == "}]") closing.push_back(token);
    }
    const bool late = step >= hurry;
    std::int32_t next = tokens[random.uniform_integer(tokens.size())];
    if (late && !closing.empty() && random.uniform_integer(4) != 0)
      next = closing[random.uniform_integer(closing.size())];
    if (state.can_end() && (late || state.must_end() || random.uniform_integer(8) == 0)) next = end_token;
    EXPECT_TRUE(state.accept(next)) << text << " then token " << next;
    if (state.ended()) return text;
    text += vocabulary.bytes(next);
  }
  return std::nullopt;
}

}  // namespace heed::test

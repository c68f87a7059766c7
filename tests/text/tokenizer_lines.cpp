// heed_tokenizer_lines TOKENIZER TEXTS: what a tokenizer makes of each text, for tools/compare_tokenizers.
//
// TOKENIZER is a tokenizer.json or a model directory. TEXTS has one JSON value per line: "text", ["text", "pair"] or
// {"hex": "bytes that need not be UTF-8"}. For each a line is written:
//   [ids, tokens, offsets in characters, type ids, special mask, attention mask, word ids, decoded with special tokens,
//    decoded without, further windows: the same list without the decoded texts]
// or {"error": message}.
#include <fstream>
#include <iostream>
#include <string>

#include "heed/base/json.h"
#include "heed/text/load_tokenizer.h"

namespace heed::text {
namespace {

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

Encoding encode(const Tokenizer& tokenizer, const Json& input) {
  if (input.is_array()) return tokenizer.encode(input.at(0).get<std::string>(), input.at(1).get<std::string>());
  if (input.is_string()) return tokenizer.encode(input.get<std::string>());
  return tokenizer.encode(from_hex(input.at("hex").get<std::string>()), {.invalid = InvalidText::kReplace});
}

Json describe(const Tokenizer& tokenizer, const Encoding& encoding) {
  Json offsets = Json::array(), words = Json::array();
  for (const Span& span : encoding.char_offsets) offsets.push_back({span.begin, span.end});
  for (const std::int32_t word : encoding.word_ids) words.push_back(word < 0 ? Json() : Json(word));
  return {encoding.ids,          tokenizer.tokens(encoding), std::move(offsets), encoding.type_ids,
          encoding.special_mask, encoding.attention_mask,    std::move(words)};
}

Json answer(const Tokenizer& tokenizer, const std::string& line) {
  try {
    const Encoding encoding = encode(tokenizer, Json::parse(line));
    Json result = describe(tokenizer, encoding);
    result.push_back(tokenizer.decode(encoding.ids, false));
    result.push_back(tokenizer.decode(encoding.ids, true));
    Json windows = Json::array();
    for (const Encoding& window : encoding.overflowing) windows.push_back(describe(tokenizer, window));
    result.push_back(std::move(windows));
    return result;
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

void run(const std::filesystem::path& path, const char* texts) {
  const Tokenizer tokenizer = std::filesystem::is_directory(path) ? load_tokenizer(path) : Tokenizer::from_file(path);
  std::ifstream lines(texts);
  HEED_CHECK_AS(not_found, lines.good(), texts, ": cannot be read");
  for (std::string line; std::getline(lines, line);) std::cout << answer(tokenizer, line).dump() << '\n';
  std::cout.flush();
}

}  // namespace
}  // namespace heed::text

int main(int count, char** arguments) {
  try {
    HEED_CHECK(count == 3, "usage: heed_tokenizer_lines TOKENIZER TEXTS");
    heed::text::run(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

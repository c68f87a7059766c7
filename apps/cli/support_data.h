// Messages to the support of an online shop, made by a grammar: intents of whole messages, slots of their words. Data
// to try training on, of any size, the same for the same seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/json.h"

namespace heed::cli {

struct SupportMessage {
  std::string text, intent;
  std::vector<std::string> words;  // of the text: punctuation stands by itself
  std::vector<std::string> tags;   // "O", "B-product", "I-product" ... one per word
  std::string made_of;             // the template and the values of its slots; not written to files
};

struct SupportData {
  std::vector<SupportMessage> train, dev, test;
};

// Of `size` messages a tenth each is for dev and test. No text occurs twice, whatever its case, and no combination of a
// template and the values of its slots is in two of the lists. Throws invalid_argument for fewer than 100 messages or
// more than a million.
SupportData make_support_data(std::uint64_t seed, std::size_t size);

// {"text", "intent", "words", "tags"}
Json to_json(const SupportMessage& message);
inline constexpr const char* kSupportFiles[] = {"train.jsonl", "dev.jsonl", "test.jsonl"};
// These files in the folder, which is made if need be.
void write_support_data(const SupportData& data, const std::filesystem::path& folder);

}  // namespace heed::cli

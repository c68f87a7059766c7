// A tokenizer as HuggingFace's tokenizer.json describes it: text to ids with offsets, and back.
//
//   const auto tokenizer = Tokenizer::from_file("bert/tokenizer.json");
//   const Encoding encoding = tokenizer.encode("Hello");
//
// Const calls are safe from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/encoding.h"
#include "heed/text/limits.h"
#include "heed/text/model.h"

namespace heed::text {

// What becomes of bytes that are not UTF-8: an error with their position, or U+FFFD for each malformed subpart.
enum class InvalidText { kRefuse, kReplace };

struct EncodeOptions {
  bool add_special = true;
  InvalidText invalid = InvalidText::kRefuse;
  std::optional<Truncation> truncation{};  // instead of the tokenizer's own
};

struct EncodeInput {
  std::string_view text;
  std::optional<std::string_view> pair;
};

class Tokenizer {
 public:
  // The text of a tokenizer.json. Errors are bad_format, start with `name` and say field, found and expected.
  static Tokenizer from_json(std::string_view text, const std::string& name);
  static Tokenizer from_parsed_json(const Json& json, const std::string& name);
  static Tokenizer from_file(const std::filesystem::path& path);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Throws invalid_argument for text that is not UTF-8 (unless replaced) and when truncation cannot do what is asked.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode(std::string_view text, std::string_view pair, const EncodeOptions& options = {}) const;
  // The same as one by one, then padded together; in parallel.
  std::vector<Encoding> encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options = {}) const;

  // Ids that stand for nothing are left out.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = true) const;
  // The same from the texts of tokens, which need not be in the vocabulary.
  std::string decode_tokens(std::vector<std::string> tokens) const;
  // The texts of the tokens of an encoding.
  std::vector<std::string> tokens(const Encoding& encoding) const;

  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  std::optional<std::string_view> id_to_token(std::int32_t id) const;
  // The bytes that an id adds to a decoded text after other tokens and before others: half a character, with some;
  // "" for an id that stands for nothing. Throws invalid_argument for decoders that join tokens otherwise (CTC).
  std::string bytes_of(std::int32_t id) const;
  // Left out by decode(skip_special).
  bool is_special(std::int32_t id) const;
  // The highest id + 1, added tokens included.
  std::int32_t vocabulary_size() const;
  const Model& model() const;

  // The words that the model would get, in order: what training counts. Added tokens are left out.
  std::vector<std::string> words(std::string_view text) const;

  const std::optional<Truncation>& truncation() const;
  void set_truncation(std::optional<Truncation> truncation);
  const std::optional<Padding>& padding() const;
  void set_padding(std::optional<Padding> padding);

  // A tokenizer.json that HuggingFace loads.
  Json to_json() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Decodes ids as they come, never half a character: push() gives the text that is certain by then, "" while the last
// character is incomplete; finish() gives what is left. The tokenizer must outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}
  std::string push(std::int32_t id);
  std::string finish();

 private:
  std::string take(const std::string& text);

  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::vector<std::int32_t> ids_;  // enough of the latest to give the next ones their context
  std::size_t fresh_ = 0;          // ids_ from here on came since the last text
  std::string given_;              // what ids_ give, as far as it has been returned
};

}  // namespace heed::text

// SentencePiece's precompiled charsmap: a Darts double-array trie from strings to their normalised forms.
//
// The bytes are a little-endian uint32 length of the trie in bytes, the trie as uint32 units, and the normalised
// strings, each ended by a NUL; the trie's values are offsets of strings. In tokenizer.json the bytes are base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

class Charsmap {
 public:
  // Throws bad_format with `context` when the lengths do not fit.
  Charsmap(std::string_view bytes, std::string_view context);
  static Charsmap from_base64(std::string_view text, std::string_view context);

  // The normalised form of the shortest key that starts `chunk` (which stands for the whole chunk in HuggingFace's
  // normalizer), or nothing when none does. The view lives as long as this.
  std::optional<std::string_view> find(std::string_view chunk) const;
  const std::string& bytes() const { return bytes_; }
  std::string to_base64() const;

 private:
  std::string bytes_;
  std::vector<std::uint32_t> units_;
  std::size_t strings_ = 0;  // where they start
};

// Base64 with padding (RFC 4648). Decoding throws bad_format with `context`.
std::string base64_encode(std::string_view bytes);
std::string base64_decode(std::string_view text, std::string_view context);

}  // namespace heed::text

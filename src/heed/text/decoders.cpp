#include <algorithm>
#include <optional>

#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/text/byte_level.h"
#include "heed/text/decoder.h"
#include "heed/text/fields.h"
#include "heed/text/metaspace.h"
#include "heed/text/pattern.h"
#include "heed/text/sequence.h"
#include "heed/text/single_character.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == std::string::npos) return;
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(from, begin)) != std::string::npos; begin = at + from.size()) {
    result.append(text, begin, at - begin).append(to);
  }
  text = result.append(text, begin);
}

// Undoes the spaces that English tokenizers put around punctuation and before contractions.
void clean_up(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        tokens[i] = bytes_of(std::move(tokens[i]));
      } else if (cleanup_) {
        clean_up(tokens[i]);
      }
    }
  }
  std::string bytes_of(std::string token) const override {
    if (token.starts_with(prefix_)) {
      token.erase(0, prefix_.size());
    } else {
      token.insert(0, 1, ' ');
    }
    if (cleanup_) clean_up(token);
    return token;
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class ByteLevelDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) append(bytes, token);
    tokens.assign(1, utf8_replace_invalid(bytes));
  }
  std::string bytes_of(std::string token) const override {
    std::string bytes;
    append(bytes, token);
    return bytes;
  }

 private:
  static void append(std::string& bytes, const std::string& token) {
    const std::size_t start = bytes.size();
    bool known = true;
    for_each_point(token, [&](char32_t point, std::size_t) {
      const auto byte = byte_level_byte(point);
      known &= byte.has_value();
      if (byte) bytes.push_back(static_cast<char>(*byte));
    });
    // A token with a character that is not of the alphabet stands for itself.
    if (!known) bytes.replace(start, bytes.size() - start, token);
  }
};

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(const MetaspaceSettings& settings) : drop_first_(settings.scheme != PrependScheme::never) {
    append_point(replacement_, settings.replacement);
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && drop_first_ ? "" : " ");
    }
  }
  std::string bytes_of(std::string token) const override {
    replace_all(token, replacement_, " ");
    return token;
  }

 private:
  bool drop_first_;
  std::string replacement_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
  }
  std::string bytes_of(std::string token) const override {
    replace_all(token, suffix_, " ");
    return token;
  }

 private:
  std::string suffix_;
};

class Fuse final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override { tokens.assign(1, join(tokens, "")); }
  std::string bytes_of(std::string token) const override { return token; }
};

// "<0xE4>" stands for a byte. Bytes that are no UTF-8 together become one U+FFFD each.
class ByteFallback final : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (utf8_find_invalid(bytes)) {
        for (std::size_t i = 0; i < bytes.size(); ++i) result.emplace_back("\uFFFD");
      } else {
        result.push_back(bytes);
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes.push_back(static_cast<char>(*byte));
      } else {
        flush();
        result.push_back(std::move(token));
      }
    }
    flush();
    tokens = std::move(result);
  }
  std::string bytes_of(std::string token) const override {
    const auto byte = byte_of(token);
    return byte ? std::string(1, static_cast<char>(*byte)) : token;
  }

 private:
  static std::optional<unsigned> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    const auto digit = [](char c) -> int {
      if (c >= '0' && c <= '9') return c - '0';
      const char low = static_cast<char>(c | 0x20);
      return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
    };
    const int high = digit(token[3]), low = digit(token[4]);
    // Rust reads "+5" as a number too.
    if (token[3] == '+' && low >= 0) return static_cast<unsigned>(low);
    if (high < 0 || low < 0) return std::nullopt;
    return static_cast<unsigned>(high * 16 + low);
  }
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) token = bytes_of(std::move(token));
  }
  std::string bytes_of(std::string token) const override {
    std::vector<Span> matches;
    pattern_.find_all(token, matches);
    if (matches.empty()) return token;
    std::string result;
    std::size_t begin = 0;
    for (const Span& match : matches) {
      result.append(token, begin, match.begin - begin).append(content_);
      begin = match.end;
    }
    return result.append(token, begin);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

// Up to `start` of the character at the front of each token and `stop` at its back.
class StripDecoder final : public Decoder {
 public:
  StripDecoder(char32_t content, std::size_t start, std::size_t stop) : start_(start), stop_(stop) {
    append_point(content_, content);
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) token = bytes_of(std::move(token));
  }
  std::string bytes_of(std::string token) const override {
    std::string_view rest = token;
    for (std::size_t i = 0; i < start_ && rest.starts_with(content_); ++i) rest.remove_prefix(content_.size());
    for (std::size_t i = 0; i < stop_ && rest.ends_with(content_); ++i) rest.remove_suffix(content_.size());
    return std::string(rest);
  }

 private:
  std::string content_;
  std::size_t start_, stop_;
};

// Connectionist temporal classification: a token that is repeated counts once, and the blank vanishes.
class Ctc final : public Decoder {
 public:
  Ctc(std::string pad, std::string delimiter, bool cleanup)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      replace_all(token, pad_, "");
      if (!cleanup_) continue;
      clean_up(token);
      replace_all(token, delimiter_, " ");
    }
    std::erase(tokens, "");
  }
  std::string bytes_of(std::string) const override {
    fail(ErrorKind::invalid_argument,
         "[tokens] the decoder CTC merges equal tokens, so that one has no bytes of its own");
  }

 private:
  std::string pad_, delimiter_;
  bool cleanup_;
};

class DecoderSequence final : public Sequence<Decoder, std::vector<std::string>> {
 public:
  using Sequence::Sequence;
  std::string bytes_of(std::string token) const override {
    bool fused = false;
    for (const auto& part : parts_) {
      // What is stripped from the whole text concerns its first and last tokens only.
      const bool at_ends = fused && dynamic_cast<const StripDecoder*>(part.get());
      if (!at_ends) token = part->bytes_of(std::move(token));
      fused |= dynamic_cast<const Fuse*>(part.get()) != nullptr;
    }
    return token;
  }
};

std::unique_ptr<Decoder> make_named(const std::string& type, Fields& fields) {
  if (type == "WordPiece") {
    auto prefix = fields.optional<std::string>("prefix", "##");
    return std::make_unique<WordPieceDecoder>(std::move(prefix), fields.optional("cleanup", true));
  }
  if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) fields.optional(key, true);
    return std::make_unique<ByteLevelDecoder>();
  }
  if (type == "Metaspace") return std::make_unique<MetaspaceDecoder>(metaspace_settings(fields));
  if (type == "BPEDecoder") return std::make_unique<BpeDecoder>(fields.optional<std::string>("suffix", "</w>"));
  if (type == "Fuse") return std::make_unique<Fuse>();
  if (type == "ByteFallback") return std::make_unique<ByteFallback>();
  if (type == "Replace") {
    Pattern pattern(fields.at("pattern"), fields.context());
    return std::make_unique<ReplaceDecoder>(std::move(pattern), fields.required<std::string>("content"));
  }
  if (type == "Strip") {
    const auto content = single_character(fields.required<std::string>("content"), fields.context() + ": content");
    const auto start = fields.required<std::uint32_t>("start");
    return std::make_unique<StripDecoder>(content, start, fields.required<std::uint32_t>("stop"));
  }
  if (type == "CTC") {
    auto pad = fields.optional<std::string>("pad_token", "<pad>");
    auto delimiter = fields.optional<std::string>("word_delimiter_token", "|");
    return std::make_unique<Ctc>(std::move(pad), std::move(delimiter), fields.optional("cleanup", true));
  }
  if (type == "Sequence") return std::make_unique<DecoderSequence>(fields, "decoders", make_decoder);
  fail(ErrorKind::bad_format, fields.context(), ": unknown type \"", type, "\"");
}

}  // namespace

std::unique_ptr<Decoder> make_decoder(const Json& json, const std::string& context) {
  Fields fields(json, context);
  auto decoder = make_named(fields.required<std::string>("type"), fields);
  fields.done();
  return decoder;
}

}  // namespace heed::text

#include "heed/text/tokenizer.h"

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/utf8.h"
#include "heed/text/added_tokens.h"
#include "heed/text/decoder.h"
#include "heed/text/fields.h"
#include "heed/text/normalizer.h"
#include "heed/text/post_processor.h"
#include "heed/text/pre_tokenizer.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

// A text that is valid UTF-8, and the way back to the caller's bytes where some were replaced.
struct CheckedText {
  std::string_view text;
  std::string replaced;
  std::vector<std::uint32_t> origin;  // of each byte of `replaced` and its end; empty: nothing was replaced

  CheckedText(std::string_view given, InvalidText rule) : text(given) {
    const auto invalid = utf8_find_invalid(given);
    if (!invalid) return;
    HEED_CHECK(rule == InvalidText::kReplace, "[tokenize] byte ", *invalid, " of the text is not UTF-8");
    for (const CodePoint& point : Utf8View(given)) {
      append_point(replaced, point.value);
      origin.resize(replaced.size(), static_cast<std::uint32_t>(point.offset));
    }
    origin.push_back(static_cast<std::uint32_t>(given.size()));
    text = replaced;
  }
  CheckedText(const CheckedText&) = delete;
  CheckedText& operator=(const CheckedText&) = delete;
};

// Offsets in code points for offsets in bytes of the text.
void count_characters(std::string_view text, const std::vector<Span>& bytes, std::vector<Span>& characters) {
  characters = bytes;
  if (is_ascii(text)) return;
  std::vector<std::uint32_t> index(text.size() + 1);  // of the character that a byte belongs to
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count += !is_continuation(text[i]);
    index[i] = count - 1;
  }
  index[text.size()] = count;
  for (Span& span : characters) {
    span = {index[std::min<std::size_t>(span.begin, text.size())], index[std::min<std::size_t>(span.end, text.size())]};
  }
}

}  // namespace

struct Tokenizer::Parts final : TokenTexts {
  Json normalizer_json, pre_tokenizer_json, post_processor_json, decoder_json;
  std::unique_ptr<Normalizer> normalizer;  // null: none, as with all but the model
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  std::unique_ptr<PostProcessor> post_processor;
  std::unique_ptr<Decoder> decoder;
  AddedTokens added;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;

  std::string_view text_of(std::int32_t id) const override {
    if (const AddedToken* token = added.find(id)) return token->text;
    return id >= 0 && id < model->size() ? model->token_of(id) : std::string_view();
  }

  PreTokenized pre_tokenize(std::string_view text) const {
    PreTokenized result = added.extract(text, normalizer.get());
    if (pre_tokenizer) pre_tokenizer->apply(result);
    return result;
  }

  Encoding encode_text(const CheckedText& checked, std::int32_t type_id) const;
  Encoding post_process(std::vector<Encoding> encodings, const EncodeOptions& options) const;
};

Encoding Tokenizer::Parts::encode_text(const CheckedText& checked, std::int32_t type_id) const {
  const PreTokenized words = pre_tokenize(checked.text);
  const std::int32_t surface_id = model->surface_id();
  Encoding encoding;
  const std::size_t expected = words.parts.size() + words.parts.size() / 4 + 4;
  encoding.ids.reserve(expected);
  encoding.byte_offsets.reserve(expected);
  encoding.word_ids.reserve(expected);
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < words.parts.size(); ++i) {
    const PreToken& part = words.parts[i];
    const std::string_view word = words.text_of(part);
    pieces.clear();
    if (part.token == kNoToken) {
      model->tokenize(word, pieces);
    } else {
      pieces.push_back({part.token, 0, static_cast<std::uint32_t>(word.size())});
    }
    for (const Piece& piece : pieces) {
      const std::string_view surface = word.substr(piece.begin, piece.end - piece.begin);
      if (piece.id == surface_id || (part.token != kNoToken && text_of(part.token) != surface)) {
        encoding.surfaces.push_back({static_cast<std::uint32_t>(encoding.ids.size()), std::string(surface)});
      }
      encoding.ids.push_back(piece.id);
      encoding.byte_offsets.push_back(words.string.source(part.span.begin + piece.begin, part.span.begin + piece.end));
      encoding.word_ids.push_back(static_cast<std::int32_t>(i));
    }
  }
  count_characters(checked.text, encoding.byte_offsets, encoding.char_offsets);
  if (!checked.origin.empty()) {
    for (Span& span : encoding.byte_offsets) span = {checked.origin[span.begin], checked.origin[span.end]};
  }
  encoding.type_ids.assign(encoding.size(), type_id);
  encoding.sequence_ids.assign(encoding.size(), type_id);
  encoding.special_mask.assign(encoding.size(), 0);
  encoding.attention_mask.assign(encoding.size(), 1);
  return encoding;
}

Encoding Tokenizer::Parts::post_process(std::vector<Encoding> encodings, const EncodeOptions& options) const {
  const bool pair = encodings.size() == 2, add_special = options.add_special;
  if (const auto& limit = options.truncation ? options.truncation : truncation) {
    limit->apply(encodings, add_special && post_processor ? post_processor->added_tokens(pair) : 0);
  }
  for (std::size_t i = 0; i < encodings.size(); ++i) encodings[i].set_sequence(static_cast<std::int32_t>(i));
  if (post_processor) post_processor->process(encodings, add_special, *this);
  Encoding result = std::move(encodings[0]);
  for (std::size_t i = 1; i < encodings.size(); ++i) result.merge(encodings[i]);
  if (padding) {
    std::vector<Encoding> batch(1);
    batch[0] = std::move(result);
    padding->apply(batch, *this);
    return std::move(batch[0]);
  }
  return result;
}

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::from_json(std::string_view text, const std::string& name) {
  return from_parsed_json(parse_json(text, name), name);
}

Tokenizer Tokenizer::from_parsed_json(const Json& json, const std::string& name) {
  auto parts = std::make_unique<Parts>();
  Fields fields(json, name);
  const auto version = fields.optional<std::string>("version", "1.0");
  HEED_CHECK_AS(bad_format, version == "1.0", name, ": version is \"", version, "\", expected \"1.0\"");
  const auto stage = [&](const std::string& key, auto& target, Json& kept, const auto& make) {
    if (const Json* section = fields.find(key)) {
      target = make(*section, name + ": " + key);
      kept = *section;
    }
  };
  stage("normalizer", parts->normalizer, parts->normalizer_json, make_normalizer);
  stage("pre_tokenizer", parts->pre_tokenizer, parts->pre_tokenizer_json, make_pre_tokenizer);
  stage("post_processor", parts->post_processor, parts->post_processor_json, make_post_processor);
  stage("decoder", parts->decoder, parts->decoder_json, make_decoder);
  parts->model = make_model(fields.at("model"), name);
  if (const Json* section = fields.find("truncation")) {
    parts->truncation = Truncation::from_json(*section, name + ": truncation");
  }
  if (const Json* section = fields.find("padding")) parts->padding = Padding::from_json(*section, name + ": padding");
  if (const Json* list = fields.find("added_tokens")) {
    parts->added = AddedTokens(*list, *parts->model, parts->normalizer.get(), name + ": added_tokens");
  }
  fields.done();
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_file(const std::filesystem::path& path) {
  return from_json(read_file(path, kMaxFileBytes), path.string());
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Encoding> encodings(1);
  encodings[0] = parts_->encode_text(CheckedText(text, options.invalid), 0);
  return parts_->post_process(std::move(encodings), options);
}

Encoding Tokenizer::encode(std::string_view text, std::string_view pair, const EncodeOptions& options) const {
  std::vector<Encoding> encodings(2);
  encodings[0] = parts_->encode_text(CheckedText(text, options.invalid), 0);
  encodings[1] = parts_->encode_text(CheckedText(pair, options.invalid), 1);
  return parts_->post_process(std::move(encodings), options);
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const EncodeInput> inputs, const EncodeOptions& options) const {
  std::vector<Encoding> batch(inputs.size());
  parallel_for(static_cast<std::int64_t>(inputs.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const EncodeInput& input = inputs[i];
      batch[i] = input.pair ? encode(input.text, *input.pair, options) : encode(input.text, options);
    }
  });
  if (parts_->padding) parts_->padding->apply(batch, *parts_);
  return batch;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const std::int32_t id : ids) {
    const auto token = id_to_token(id);
    if (token && !(skip_special && parts_->added.is_special(*token))) tokens.emplace_back(*token);
  }
  return decode_tokens(std::move(tokens));
}

std::string Tokenizer::decode_tokens(std::vector<std::string> tokens) const {
  if (parts_->decoder) parts_->decoder->apply(tokens);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !parts_->decoder) text += ' ';
    text += tokens[i];
  }
  return text;
}

std::vector<std::string> Tokenizer::tokens(const Encoding& encoding) const {
  std::vector<std::string> texts;
  texts.reserve(encoding.size());
  for (std::size_t i = 0; i < encoding.size(); ++i) texts.emplace_back(encoding.text_of(i, *parts_));
  return texts;
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto added = parts_->added.id_of(token);
  return added ? added : parts_->model->id_of(token);
}

std::optional<std::string_view> Tokenizer::id_to_token(std::int32_t id) const {
  const std::string_view text = parts_->text_of(id);
  if (text.empty()) return std::nullopt;
  return text;
}

std::string Tokenizer::bytes_of(std::int32_t id) const {
  std::string token(parts_->text_of(id));
  if (token.empty()) return token;
  return parts_->decoder ? parts_->decoder->bytes_of(std::move(token)) : " " + token;
}

bool Tokenizer::is_special(std::int32_t id) const {
  return parts_->added.is_special(parts_->text_of(id));
}

std::int32_t Tokenizer::vocabulary_size() const {
  const auto& added = parts_->added.tokens();
  return std::max(parts_->model->size(), added.empty() ? 0 : added.back().id + 1);
}

const Model& Tokenizer::model() const {
  return *parts_->model;
}

std::vector<std::string> Tokenizer::words(std::string_view text) const {
  const PreTokenized words = parts_->pre_tokenize(CheckedText(text, InvalidText::kRefuse).text);
  std::vector<std::string> result;
  result.reserve(words.parts.size());
  for (const PreToken& part : words.parts) {
    if (part.token == kNoToken) result.emplace_back(words.text_of(part));
  }
  return result;
}

const std::optional<Truncation>& Tokenizer::truncation() const {
  return parts_->truncation;
}
void Tokenizer::set_truncation(std::optional<Truncation> truncation) {
  parts_->truncation = std::move(truncation);
}
const std::optional<Padding>& Tokenizer::padding() const {
  return parts_->padding;
}
void Tokenizer::set_padding(std::optional<Padding> padding) {
  parts_->padding = std::move(padding);
}

Json Tokenizer::to_json() const {
  return {{"version", "1.0"},
          {"truncation", parts_->truncation ? parts_->truncation->to_json() : Json()},
          {"padding", parts_->padding ? parts_->padding->to_json() : Json()},
          {"added_tokens", parts_->added.to_json()},
          {"normalizer", parts_->normalizer_json},
          {"pre_tokenizer", parts_->pre_tokenizer_json},
          {"post_processor", parts_->post_processor_json},
          {"decoder", parts_->decoder_json},
          {"model", parts_->model->to_json()}};
}

}  // namespace heed::text

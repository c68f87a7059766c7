#include "heed/text/model.h"

#include <algorithm>
#include <initializer_list>

#include "heed/text/bpe.h"
#include "heed/text/renumbered.h"
#include "heed/text/unigram.h"
#include "heed/text/word_level.h"
#include "heed/text/word_piece.h"

namespace heed::text {
namespace {

using Fields = std::initializer_list<std::string_view>;

void refuse_unknown_fields(const Json& section, std::string_view type, Fields fields, const std::string& file) {
  for (const auto& [key, value] : section.items()) {
    HEED_CHECK_AS(bad_format, key == "type" || std::ranges::find(fields, key) != fields.end(), file, ": model of type ",
                  type, " has the field ", key, ", which heed does not know");
  }
}

std::optional<std::string> optional_text(const Json& section, const std::string& key, const std::string& file) {
  const auto found = section.find(key);
  if (found == section.end() || found->is_null()) return std::nullopt;
  return json_as<std::string>(*found, key, file);
}

const Json& required(const Json& section, const char* key, const std::string& file) {
  HEED_CHECK_AS(bad_format, section.contains(key), file, ": model.", key, " is missing");
  return section[key];
}

std::unique_ptr<Model> make_word_piece(const Json& section, const std::string& file) {
  refuse_unknown_fields(section, "WordPiece",
                        {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"}, file);
  WordPieceOptions options;
  options.unk_token = json_optional(section, "unk_token", options.unk_token, file);
  options.continuing_subword_prefix =
      json_optional(section, "continuing_subword_prefix", options.continuing_subword_prefix, file);
  options.max_input_chars_per_word =
      json_optional(section, "max_input_chars_per_word", options.max_input_chars_per_word, file);
  HEED_CHECK_AS(bad_format, options.max_input_chars_per_word >= 0, file, ": max_input_chars_per_word is ",
                options.max_input_chars_per_word, ", expected 0 or more");
  return std::make_unique<WordPiece>(Vocabulary::from_json(required(section, "vocab", file), file), options);
}

std::unique_ptr<Model> make_word_level(const Json& section, const std::string& file) {
  refuse_unknown_fields(section, "WordLevel", {"unk_token", "vocab"}, file);
  return std::make_unique<WordLevel>(Vocabulary::from_json(required(section, "vocab", file), file),
                                     json_optional<std::string>(section, "unk_token", "<unk>", file));
}

// "left right", or ["left", "right"] as newer files have it, for tokens with spaces.
Bpe::Merges read_merges(const Json& list, const std::string& file) {
  HEED_CHECK_AS(bad_format, list.is_array(), file, ": merges is ", heed::detail::json_kind(list), ", expected a list");
  Bpe::Merges merges;
  merges.reserve(list.size());
  for (const Json& item : list) {
    if (item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string()) {
      merges.emplace_back(item[0].get<std::string>(), item[1].get<std::string>());
      continue;
    }
    const auto line = json_as<std::string>(item, "a merge", file);
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    HEED_CHECK_AS(bad_format, space != std::string::npos && line.find(' ', space + 1) == std::string::npos, file,
                  ": merge ", merges.size(), " is \"", line, "\", expected two tokens with a space between");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

std::unique_ptr<Model> make_bpe(const Json& section, const std::string& file) {
  refuse_unknown_fields(section, "BPE",
                        {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                         "byte_fallback", "ignore_merges", "vocab", "merges"},
                        file);
  BpeOptions options;
  if (const auto dropout = section.find("dropout"); dropout != section.end() && !dropout->is_null()) {
    options.dropout = json_as<double>(*dropout, "dropout", file);
    HEED_CHECK_AS(bad_format, *options.dropout >= 0 && *options.dropout <= 1, file, ": dropout is ", *options.dropout,
                  ", expected 0 to 1");
  }
  options.unk_token = optional_text(section, "unk_token", file);
  options.continuing_subword_prefix = optional_text(section, "continuing_subword_prefix", file);
  options.end_of_word_suffix = optional_text(section, "end_of_word_suffix", file);
  options.fuse_unk = json_optional(section, "fuse_unk", false, file);
  options.byte_fallback = json_optional(section, "byte_fallback", false, file);
  options.ignore_merges = json_optional(section, "ignore_merges", false, file);
  return std::make_unique<Bpe>(Vocabulary::from_json(required(section, "vocab", file), file),
                               read_merges(required(section, "merges", file), file), options, file);
}

std::unique_ptr<Model> make_unigram(const Json& section, const std::string& file) {
  refuse_unknown_fields(section, "Unigram", {"unk_id", "vocab", "byte_fallback"}, file);
  const Json& list = required(section, "vocab", file);
  HEED_CHECK_AS(bad_format, list.is_array() && list.size() <= static_cast<std::size_t>(Vocabulary::kMaxIds), file,
                ": vocab is ", heed::detail::json_kind(list), ", expected a list of up to ", Vocabulary::kMaxIds,
                " [token, score]");
  std::vector<ScoredToken> tokens;
  tokens.reserve(list.size());
  for (const Json& item : list) {
    HEED_CHECK_AS(bad_format, item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_number(), file,
                  ": vocab[", tokens.size(), "] is ", heed::detail::json_kind(item), ", expected [token, score]");
    tokens.push_back({item[0].get<std::string>(), item[1].get<double>()});
  }
  std::optional<std::int32_t> unknown;
  if (const auto id = section.find("unk_id"); id != section.end() && !id->is_null()) {
    unknown = json_as<std::int32_t>(*id, "unk_id", file);
  }
  return std::make_unique<Unigram>(std::move(tokens), unknown, json_optional(section, "byte_fallback", false, file),
                                   file);
}

std::unique_ptr<Model> make_renumbered(const Json& section, const std::string& file) {
  refuse_unknown_fields(section, "Renumbered", {"unk_token", "pieces", "ids", "vocab"}, file);
  const Json& pieces = required(section, "pieces", file);
  const std::string inner = json_optional<std::string>(pieces, "type", "", file);
  HEED_CHECK_AS(bad_format, inner != "Renumbered", file, ": model.pieces is renumbered too");
  return std::make_unique<Renumbered>(make_model(pieces, file),
                                      json_as<std::vector<std::int32_t>>(required(section, "ids", file), "ids", file),
                                      Vocabulary::from_json(required(section, "vocab", file), file),
                                      json_optional<std::string>(section, "unk_token", "<unk>", file), file);
}

// Old files name no type; the fields tell.
std::string guess_type(const Json& section) {
  if (section.contains("merges")) return "BPE";
  if (section.contains("vocab") && section["vocab"].is_array()) return "Unigram";
  return section.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

std::unique_ptr<Model> make_model(const Json& model_section, const std::string& file) {
  HEED_CHECK_AS(bad_format, model_section.is_object(), file, ": model is ", heed::detail::json_kind(model_section),
                ", expected an object");
  const auto type = json_optional(model_section, "type", guess_type(model_section), file);
  if (type == "BPE") return make_bpe(model_section, file);
  if (type == "WordPiece") return make_word_piece(model_section, file);
  if (type == "Unigram") return make_unigram(model_section, file);
  if (type == "WordLevel") return make_word_level(model_section, file);
  if (type == "Renumbered") return make_renumbered(model_section, file);
  fail(ErrorKind::bad_format, file, ": model.type is \"", type, "\", expected BPE, WordPiece, Unigram or WordLevel");
}

}  // namespace heed::text
